"""Past answers of a crowd to tasks with known answers: the rows that count."""

from collections.abc import Collection, Sequence

from selection.errors import Refused

from . import row_parsers
from .row_parsers import AnswerRow, BadRow


class FaultyRows(Refused):
    """A refusal of rows that may be left out on request."""

    def __init__(self, name: str, rows: Sequence[BadRow]) -> None:
        super().__init__(_describe_first_fault(rows, name))
        self.name, self.rows = name, rows


def take_first_answers(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """Return the first answer of each worker and question, whatever the skill."""
    unique: dict[tuple[str, str], AnswerRow] = {}
    for row in rows:
        unique.setdefault((row.worker, row.question), row)
    return list(unique.values())


def select_known(
    rows: Sequence[AnswerRow], known: Collection[str], noun: str
) -> tuple[list[AnswerRow], int, int]:
    """Return the answers to known questions, and the numbers left out: of answers, of workers.

    noun  of the known questions, for refusals

    Raises Refused if another column has the questions.
    """
    columns = {"worker": [row.worker for row in rows], "task": [row.question for row in rows]}
    columns["answer"] = [row.response for row in rows]
    row_parsers.refuse_swapped("task", set(known), columns, noun)
    graded = [row for row in rows if row.question in known]
    idle = {row.worker for row in rows} - {row.worker for row in graded}
    return graded, len(rows) - len(graded), len(idle)


def _describe_first_fault(bad: Sequence[BadRow], name: str) -> str:
    """Return a sentence on the first faulty line, with the number of the others."""
    more = f" ({len(bad) - 1} more lines are bad)" if len(bad) > 1 else ""
    return f"{name}, line {bad[0].line}: {bad[0].why.rstrip('.')}{more}."
