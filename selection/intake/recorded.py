"""Answers that a crowd once gave to tasks whose known answers we have: two files, read together."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from selection.errors import Refused
from selection.models import plain

from . import files
from .files import AnswerRow, BadRow


@dataclass(frozen=True)
class Graded:
    """answers   one a worker and task, all of them to tasks in ``gold``
    left_out  how many more the file has, to tasks without a known answer
    idle      workers of the file who answered no task in ``gold``
    repeated  further rows of a worker for a task: the first counts, as in an import
    """

    answers: list[AnswerRow]
    gold: dict[str, str]
    left_out: int
    idle: int
    repeated: int

    @cached_property
    def right(self) -> dict[str, list[bool]]:
        """By worker, whether each of the recorded answers is right, in the order of the file."""
        found: dict[str, list[bool]] = defaultdict(list)
        for row in self.answers:
            found[row.worker].append(plain(row.response) == plain(self.gold[row.question]))
        return found


def read(answers: str, gold: str, names: tuple[str, str]) -> Graded:
    """From the texts of the two files, whose names are for refusals. Raises Refused, with file and
    line."""
    rows, problems = files.answers(answers, names[0])
    bad = [row for row in problems if not row.repeats]
    if bad:
        raise Refused(_first(bad, names[0]))
    known = files.gold(gold, names[1])
    columns = {"worker": [row.worker for row in rows], "task": [row.question for row in rows]}
    files.refuse_swapped("task", set(known), columns, "the tasks of the gold file")
    graded = [row for row in rows if row.question in known]
    if not graded:
        raise Refused(
            f"{names[0]} has no answer to a task that {names[1]} names the known answer of."
        )
    idle = {row.worker for row in rows} - {row.worker for row in graded}
    repeated = len(problems) - len(bad)
    return Graded(graded, known, len(rows) - len(graded), len(idle), repeated)


def _first(bad: list[BadRow], name: str) -> str:
    more = f" ({len(bad) - 1} more lines are bad)" if len(bad) > 1 else ""
    return f"{name}, line {bad[0].line}: {bad[0].why.rstrip('.')}{more}."
