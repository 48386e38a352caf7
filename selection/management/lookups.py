"""Find the runs and teams named on a command line, and report refusals as commands do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management import CommandError

from selection.errors import NotFound, Refused
from selection.models import Run, Team, default_team

DASH = "A name that begins with - goes after --."
TEAM = "whose run it is, where several have one of this name"


@contextmanager
def report_refusals(interrupted: str = "Interrupted.") -> Iterator[None]:
    """Turn refusals and Ctrl-C into an error of one line, with a returncode of 2 or 130."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError(interrupted, returncode=130) from None
    except Refused as refusal:
        raise CommandError(str(refusal), returncode=2) from refusal
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"{error.filename}: {reason}.", returncode=2) from error


def find_team(name: str) -> Team:
    """Return the team of this name; without one, the first team. Raises NotFound."""
    team = Team.objects.filter(name=name).first() if name else Team.objects.get(pk=default_team())
    if team is None:
        raise NotFound(f"There is no team “{name}”.")
    return team


def run_of(name: str, team: str = "") -> Run:
    """Return the run of this name, else number. Raises NotFound, or Refused for several."""
    rows = Run.objects.select_related("pool", "question_set", "team")
    rows = rows.filter(team=find_team(team)) if team else rows
    lookup: dict[str, Any] = {"name": name}
    if name.isdecimal() and len(name) < 19 and not rows.filter(**lookup).exists():
        lookup = {"pk": int(name)}
    matches = list(rows.filter(**lookup)[:2])
    if not matches:
        raise NotFound(f"There is no run “{name}”.")
    if len(matches) > 1:
        raise Refused(f"Several teams have a run “{name}”: say which with --team.")
    return matches[0]


def parse_pairs(texts: Sequence[str]) -> dict[str, str]:
    parts = [text.partition("=") for text in texts]
    for name, sign, _ in parts:
        if not name or not sign:
            raise Refused(f"“{name}” is no option; write it as --option name=value.")
    return {name.strip(): value.strip() for name, _, value in parts}


def parse_amount(option: str, text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= 10**8:
        raise Refused(f"{option} must be an amount such as 0.05, not “{text}”.")
    return amount
