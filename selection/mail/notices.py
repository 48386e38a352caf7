"""Messages to members of the team who asked for them: a run ended, or needs attention."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from selection import db_clock
from selection.models import Follower, Mail, Run

from . import delivery, letters
from .server import has_server

Kind = Mail.Kind
# A run that ended longer ago, for example before an outage, is no news.
NEWS = timedelta(days=1)


def followed_runs() -> Exists:
    """Select runs with a member who wants messages, if they can be sent."""
    followers = Follower.objects.filter(team=OuterRef("team"))
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


def _write_notices(run: Run, kind: Kind, words: str, at: datetime) -> None:
    """Write a message to each member who wanted it at that time, once for this time."""
    now = db_clock.database_now()
    mails = [
        Mail(
            run=run,
            kind=kind,
            user=user,
            words=words,
            name=f"{kind} {run.pk} {at:%Y%m%d%H%M%S%f} {user.pk}",
            made=now,
            due=now,
        )
        for user in _followers(run, at)
    ]
    delivery.write_mails(mails)


def _followers(run: Run, at: datetime) -> Iterator[User]:
    rows = Follower.objects.filter(team=run.team_id, since__lte=at).select_related("user")
    return (row.user for row in rows if letters.is_reachable(row.user, run.team_id))
