"""Past answers of a crowd to tasks with known answers, read from files."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from selection.errors import Refused
from selection.grading import scores
from selection.models import normalise_text

from . import row_parsers
from .row_parsers import AnswerRow, BadRow


@dataclass(frozen=True)
class GradedAnswers:
    """Answers of a crowd with the known answers.

    answers   one for each worker and task, all of them to tasks in ``gold``
    golds     ``gold`` by kind of task, in the order of the gold files
    left_out  number of further answers in the file, to tasks without a known answer
    idle      workers of the file with no answer to a task in ``gold``
    repeated  further rows of a worker for a task: the first counts, as in an import
    """

    answers: list[AnswerRow]
    gold: dict[str, str]
    left_out: int
    idle: int
    repeated: int
    golds: list[dict[str, str]]

    @cached_property
    def right(self) -> dict[str, list[float]]:
        """Return, by worker, the grade of each recorded answer, in the order of the file."""
        by_worker: dict[str, list[float]] = defaultdict(list)
        for row, grade in zip(self.answers, self.grades, strict=True):
            by_worker[row.worker].append(grade)
        return by_worker

    @cached_property
    def grades(self) -> list[float]:
        """Return 1 for each right answer and 0 for each wrong one."""
        labels = {task: normalise_text(label) for task, label in self.gold.items()}
        return [float(normalise_text(row.response) == labels[row.question]) for row in self.answers]


def read_kinds(
    answers: bytes | str, golds: Sequence[bytes | str], names: Sequence[str]
) -> GradedAnswers:
    """Return the answers with a gold file for each kind of task; each task is in one of them.

    names  of the file of answers, then of each gold file

    Raises Refused, with file and line.
    """
    rows, repeated = take_first_answers(*row_parsers.parse_answers(answers, names[0]), names[0])
    kinds = [
        row_parsers.parse_gold(text, name) for text, name in zip(golds, names[1:], strict=True)
    ]
    labels = _merge_kinds(kinds, names[1:])
    if scores.KEY in labels.values():
        raise Refused(
            f"{names[0]} has scores, which are not read here: use the page “Try it on past "
            "answers”."
        )
    graded, left_out, idle = select_known(rows, labels, "the tasks of the gold file")
    _refuse_unanswered(kinds, {row.question for row in graded}, names)
    return GradedAnswers(graded, labels, left_out, idle, repeated, kinds)


def take_first_answers(
    rows: Sequence[AnswerRow], faults: Sequence[BadRow], name: str
) -> tuple[list[AnswerRow], int]:
    """Return the first answer of each worker and question, and the number of the repeated ones.

    A column “skill” does not separate questions. Raises Refused for a faulty line.
    """
    if bad := [row for row in faults if not row.repeats]:
        raise Refused(_describe_first_fault(bad, name))
    unique: dict[tuple[str, str], AnswerRow] = {}
    for row in rows:
        unique.setdefault((row.worker, row.question), row)
    return list(unique.values()), len(faults) + len(rows) - len(unique)


def select_known(
    rows: Sequence[AnswerRow], known: Collection[str], noun: str
) -> tuple[list[AnswerRow], int, int]:
    """Return the answers to known questions, and the numbers left out: of answers, of workers.

    noun  of the known questions, for refusals

    Raises Refused if another column has the questions.
    """
    columns = {"worker": [row.worker for row in rows], "task": [row.question for row in rows]}
    row_parsers.refuse_swapped("task", set(known), columns, noun)
    graded = [row for row in rows if row.question in known]
    idle = {row.worker for row in rows} - {row.worker for row in graded}
    return graded, len(rows) - len(graded), len(idle)


def _merge_kinds(kinds: Sequence[dict[str, str]], names: Sequence[str]) -> dict[str, str]:
    """Return the known answers of all kinds. Raises Refused for a task that is of two kinds."""
    files: dict[str, str] = {}
    for kind, name in zip(kinds, names, strict=True):
        for task in kind:
            if task in files:
                raise Refused(
                    f"The task “{task}” is in {files[task]} and in {name}: each task must be of "
                    "one kind."
                )
        files |= dict.fromkeys(kind, name)
    return {task: label for kind in kinds for task, label in kind.items()}


def _refuse_unanswered(
    kinds: Sequence[dict[str, str]], answered: set[str], names: Sequence[str]
) -> None:
    for kind, name in zip(kinds, names[1:], strict=True):
        if answered.isdisjoint(kind):
            raise Refused(
                f"{names[0]} has no answer to a task that {name} names the known answer of."
            )


def _describe_first_fault(bad: list[BadRow], name: str) -> str:
    """Return a sentence on the first faulty line, with the number of the others."""
    more = f" ({len(bad) - 1} more lines are bad)" if len(bad) > 1 else ""
    return f"{name}, line {bad[0].line}: {bad[0].why.rstrip('.')}{more}."
