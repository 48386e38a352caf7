"""Answers in the layout of a survey: a line for each worker, a column for each question."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from selection.models import Run

from .context import ExportContext
from .writing import ExportTable

CHUNK = 5000


def wide_answers(context: ExportContext) -> ExportTable:
    columns = _question_columns(context.run)
    rows = _wide_rows(context.run, list(columns))
    return ExportTable(["worker", *columns.values()], rows)


Asked = tuple[int, int]


def _question_columns(run: Run) -> dict[Asked, str]:
    """Name columns by kind of task and question, of the questions that were answered.

    With several kinds of task a question is named with its kind, because two sets may name one
    alike.
    """
    kinds = [f"{skill}: " if run.several else "" for skill in run.skills]
    answers = run.answers.filter(expired=False).responded()
    skill, question = "assignment__candidate__skill", "assignment__question"
    questions = answers.order_by(skill, f"{question}__number").distinct()
    rows = questions.values_list(skill, f"{question}_id", f"{question}__key", f"{question}__number")
    return {(kind, pk): kinds[kind] + key for kind, pk, key, _ in rows}


def _wide_rows(run: Run, columns: list[Asked]) -> Iterator[list[str]]:
    valid = run.answers.filter(expired=False).responded()
    candidate = "assignment__candidate"
    rows = valid.order_by(f"{candidate}__worker_id").values_list(
        f"{candidate}__worker__key", f"{candidate}__skill", "assignment__question_id", "response"
    )
    for worker, answers in groupby(rows.iterator(CHUNK), itemgetter(0)):
        responses = {(skill, question): response for _, skill, question, response in answers}
        yield [worker, *(responses.get(column, "") for column in columns)]
