"""What a command line names, found; and what is refused, said as commands do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.management import CommandError
from django.db import DatabaseError
from django.db.models import Model, QuerySet

from selection.errors import NotFound, Refused
from selection.models import Run

Found = TypeVar("Found", bound=Model)
DASH = "A name that begins with - goes after --."


@contextmanager
def refusals_said() -> Iterator[None]:
    """One line, and a returncode of 2."""
    try:
        yield
    except Refused as refusal:
        raise CommandError(str(refusal), returncode=2) from refusal
    except DatabaseError as error:
        why = str(error).splitlines()[0]
        raise CommandError(
            f"The database cannot be used ({why}); has `python manage.py migrate` been run?",
            returncode=2,
        ) from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise CommandError(f"{error.filename}: {why}.", returncode=2) from error


def run_of(words: str, team: str = "") -> Run:
    """The run of this name, else of this number. Raises NotFound, and Refused for several."""
    rows = Run.objects.select_related("pool", "question_set", "team")
    rows = rows.filter(team__name=team) if team else rows
    named: dict[str, Any] = {"name": words}
    if words.isdecimal() and len(words) < 19 and not rows.filter(name=words).exists():
        named = {"pk": int(words)}
    return one(rows.filter(**named), f"run “{words}”")


def one(rows: QuerySet[Found], what: str) -> Found:
    found = list(rows[:2])
    if not found:
        raise NotFound(f"There is no {what}.")
    if len(found) > 1:
        raise Refused(f"Several teams have a {what}: say which with --team.")
    return found[0]
