"""Messages to members of the team who asked for them: a run ended, or needs attention."""

from collections.abc import Iterator
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from selection import db_clock
from selection.models import Follower, Mail, Run

from . import letters, outbox
from .server import has_server

Kind = Mail.Kind
# A run that ended longer ago, for example before an outage, is no news.
NEWS = timedelta(days=1)


def followed_runs() -> Exists:
    """Return the condition of runs with a member who wants messages."""
    return Exists(Follower.objects.filter(team=OuterRef("team")))


def write_end_notices() -> None:
    """Write a message about each run that ended lately, once per member and end."""
    ended = Run.objects.filter(status=Run.Status.ENDED, ended__gt=db_clock.database_now() - NEWS)
    for run in ended.filter(followed_runs()):
        words = f"The run “{run}” has ended because {run.why_ended}."
        _write_notices(run, Kind.ENDED, words, f"{run.ended:%Y%m%d%H%M%S%f}", run.ended)


def write_alert_notices(run: Run, alerts: list[str]) -> None:
    """Write a message with new alerts of a run, in the transaction that marks them as sent."""
    now = db_clock.database_now()
    _write_notices(run, Kind.ATTENTION, "\n\n".join(alerts), f"{now:%Y%m%d%H%M%S%f}", now)


def _write_notices(run: Run, kind: Kind, words: str, occasion: str, at: object) -> None:
    if not has_server():
        return
    now = db_clock.database_now()
    mails = [
        Mail(
            run=run,
            kind=kind,
            user=user,
            words=words,
            name=f"{kind} {run.pk} {occasion} {user.pk}",
            made=now,
            due=now,
        )
        for user in _followers(run, at)
    ]
    names = [mail.name for mail in mails]
    known = set(Mail.objects.filter(name__in=names).values_list("name", flat=True))
    outbox.write_mails([mail for mail in mails if mail.name not in known])


def _followers(run: Run, at: object) -> Iterator[User]:
    rows = Follower.objects.filter(team=run.team_id, since__lte=at).select_related("user")
    return (row.user for row in rows if letters.is_reachable(row.user, run.team_id))
