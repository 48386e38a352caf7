"""What a command line names, found; and what is refused, said as commands do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.management import CommandError
from django.db.models import Model, QuerySet

from selection.errors import NotFound, Refused
from selection.models import Run

Found = TypeVar("Found", bound=Model)
DASH = "A name that begins with - goes after --."
TEAM = "whose run it is, where several have one of this name"


@contextmanager
def refusals_said() -> Iterator[None]:
    """One line, and a returncode of 2."""
    try:
        yield
    except Refused as refusal:
        raise CommandError(str(refusal), returncode=2) from refusal
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise CommandError(f"{error.filename}: {why}.", returncode=2) from error


def run_of(words: str, team: str = "") -> Run:
    return find_by_name(Run.objects.select_related("pool", "question_set", "team"), words, team)


def find_by_name(rows: QuerySet[Found], words: str, team: str = "") -> Found:
    """What has this name, else this number. Raises NotFound, and Refused for several."""
    rows = rows.filter(team__name=team) if team else rows
    wanted: dict[str, Any] = {"name": words}
    if words.isdecimal() and len(words) < 19 and not rows.filter(**wanted).exists():
        wanted = {"pk": int(words)}
    found = list(rows.filter(**wanted)[:2])
    what = f"{rows.model._meta.verbose_name} “{words}”"
    if not found:
        raise NotFound(f"There is no {what}.")
    if len(found) > 1:
        raise Refused(f"Several teams have a {what}: say which with --team.")
    return found[0]


def parse_pairs(written: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE, each once."""
    parted = [text.partition("=") for text in written]
    for name, sign, _ in parted:
        if not name or not sign:
            raise Refused(f"“{name}” is no option; write it as --option name=value.")
    return {name.strip(): value.strip() for name, _, value in parted}
