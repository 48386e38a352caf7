"""Messages that members asked for: a run ended or needs attention, a watch has alarms."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from selection import db_clock
from selection.accounts import roles_of
from selection.models import Run, Watch, WatchedWorker
from selection.texts import counted

from . import delivery, letters
from .models import Follower, Mail, has_server

Kind = Mail.Kind
# A run that ended longer ago, for example before an outage, is no news.
NEWS = timedelta(days=1)
MOST_NAMED = 10


def followed_runs() -> Exists:
    """Select runs with a member who wants messages, if they can be sent."""
    followers = Follower.objects.filter(team=OuterRef("team"), runs=True)
    return Exists(followers if has_server() else followers.none())


def write_end_notices() -> None:
    """Write a message about each run that ended lately, once per member and end."""
    ended = Run.objects.filter(status=Run.Status.ENDED, ended__gt=Now() - NEWS)
    notices = Mail.objects.filter(run=OuterRef("pk"), kind=Kind.ENDED, made__gte=OuterRef("ended"))
    for run in ended.filter(followed_runs(), ~Exists(notices)):
        assert run.ended is not None  # the condition compares it
        words = f"The run “{run}” has ended because {run.why_ended}."
        _write_notices(run, Kind.ENDED, words, run.ended)


def write_alert_notices(run: Run, alerts: list[str]) -> None:
    """Write a message with new alerts of a run, in the transaction that marks them as sent."""
    if has_server():
        now = db_clock.database_now()
        _write_notices(run, Kind.ATTENTION, "\n\n".join(alerts), now)


def write_alarm_notices() -> None:
    """Write a message about the new alarms of each watch, once per member."""
    if not has_server():
        return
    news = Q(alarmed__gt=Now() - NEWS, watch=OuterRef("pk"))
    untold = Q(watch__alarms_sent=None) | Q(alarmed__gt=F("watch__alarms_sent"))
    for watch in Watch.objects.filter(Exists(WatchedWorker.objects.filter(news, untold))):
        _write_alarms(watch)


@transaction.atomic
def _write_alarms(watch: Watch) -> None:
    locked = Watch.objects.select_for_update(no_key=True).get(pk=watch.pk)
    rows = locked.workers.filter(alarmed__gt=locked.alarms_sent or locked.created)
    alarms = list(rows.order_by("alarmed").select_related("worker"))
    if not alarms:
        return
    at = alarms[-1].alarmed
    assert at is not None  # the condition compares it
    names = ", ".join(f"“{row.worker}”" for row in alarms[:MOST_NAMED])
    more = f" and {counted(len(alarms) - MOST_NAMED, 'other')}" if alarms[MOST_NAMED:] else ""
    words = f"Gold answers show that these workers have fallen below their level: {names}{more}."
    _write_notices(locked, Kind.ALARM, words, at)
    Watch.objects.filter(pk=locked.pk).update(alarms_sent=at)


def _write_notices(about: Run | Watch, kind: Kind, words: str, at: datetime) -> None:
    """Write a message to each member who wanted it at that time, once for this time."""
    now = db_clock.database_now()
    mails = [
        Mail(
            run=about if isinstance(about, Run) else None,
            watch=about if isinstance(about, Watch) else None,
            kind=kind,
            user=user,
            words=words,
            name=f"{kind} {about.pk} {at:%Y%m%d%H%M%S%f} {user.pk}",
            made=now,
            due=now,
            noted=isinstance(about, Watch),  # its alarms are in the audit log
        )
        for user in _followers(about, at)
    ]
    delivery.write_mails(mails)


def _followers(about: Run | Watch, at: datetime) -> Iterator[User]:
    choices = Follower.objects.filter(team=about.team_id)
    if isinstance(about, Watch):
        wanted = dict(choices.values_list("user", "alarms"))
        users = [
            user
            for user in User.objects.filter(is_active=True).order_by("pk")
            if wanted.get(user.pk, about.team_id in roles_of(user))
        ]
    else:
        users = [
            row.user for row in choices.filter(runs=True, since__lte=at).select_related("user")
        ]
    return (user for user in users if letters.is_reachable(user, about.team_id))
