"""Answers of a run, and open questions for use elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import F, QuerySet

from selection.errors import NotFound
from selection.grading.rules import kind_of
from selection.models import Answer, Assignment, Run

ANSWER_COLUMNS = ["worker", "question", "position", "response", "outcome", "at", "counted_in"]

# By (expired, right).
OUTCOMES = {(False, True): "right", (False, False): "not right", (True, False): "too late"}
RETIRED = "question retired"


def answer_columns(run: Run) -> list[str]:
    return [*ANSWER_COLUMNS, *(["skill"] if run.several else [])]


def answer_rows(run: Run) -> Iterator[list[Any]]:
    rows = run.answers.order_by("assignment").values_list(
        "assignment__candidate__worker__key",
        "assignment__question__key",
        "assignment__position",
        "response",
        "right",
        "expired",
        "at",
        "applied_in",
        "assignment__candidate__skill",
        "void",
    )
    names = [[str(skill)] if run.several else [] for skill in run.skills]
    for row in rows.iterator(5000):
        worker, question, position, response, correct, expired, at, step, skill, void = row
        outcome = describe_outcome({"expired": expired, "right": correct, "void": void})
        when = at.isoformat(" ", "seconds")
        yield [worker, question, position, response, outcome, when, step, *names[skill]]


def answers_of(
    run: Run, worker: str = "", question: str = "", kind: str | None = None
) -> QuerySet[Answer, Any]:
    """List the run's answers as dictionaries; ``describe_outcome`` adds the outcome of each.

    worker, question, kind  only this worker's, to this question, with this outcome
    """
    filters: dict[str, Any] = {"void": kind == RETIRED} if kind else {}
    if kind and kind != RETIRED:
        expired, correct = next(key for key, outcome in OUTCOMES.items() if outcome == kind)
        filters |= {"expired": expired} | ({} if expired else {"right": correct})
    if worker:
        filters["assignment__candidate__worker__key"] = worker
    if question:
        filters["assignment__question__key"] = question
    return Answer.objects.filter(run=run, **filters).values(
        "assignment_id",
        "response",
        "right",
        "expired",
        "void",
        "at",
        worker=F("assignment__candidate__worker__key"),
        question=F("assignment__question__key"),
        number=F("assignment__candidate__skill"),
        position=F("assignment__position"),
        counted_in=F("applied_in"),
    )


def describe_outcome(row: Mapping[str, Any]) -> str:
    return RETIRED if row["void"] else OUTCOMES[row["expired"], row["right"]]


# -- open questions

OPEN_COLUMNS = ["worker", "question", "prompt", "choices", "assignment", "due", "kind"]


def open_columns(run: Run) -> list[str]:
    return [*OPEN_COLUMNS, *(["skill"] if run.several else [])]


def open_table(run: Run) -> list[dict[str, Any]]:
    """List the open questions by worker, to be answered elsewhere.

    With a column ``response`` added, the file can be imported into the run.
    """
    rows = _open_rows(run, "candidate__worker__key", "position")
    return [
        {name: row[name] for name in [*OPEN_COLUMNS, "skill"]}
        | {
            "choices": "|".join(row["choices"]),
            "due": row["due"].isoformat(" ", "seconds") if row["due"] else "",
        }
        for row in _described_rows(run, rows)
    ]


def open_assignments(run: Run, worker: str | None, limit: int, after: int) -> list[dict[str, Any]]:
    """List open assignments, oldest first: those with an id above ``after``, at most ``limit``.

    Raises NotFound for a worker who is not in the run.
    """
    rows = _open_rows(run, "id").filter(id__gt=after)
    if worker and run.status != Run.Status.ENDED:
        candidates = list(run.candidates.filter(worker__key=worker))
        if not candidates:
            raise NotFound(f"There is no worker “{worker}” in this run.")
        rows = rows.filter(candidate__in=candidates)
    return _described_rows(run, rows[:limit])


def _open_rows(run: Run, *order: str) -> QuerySet[Assignment, Any]:
    """List the open assignments in this order; none after the run's end."""
    rows = Assignment.objects.answerable().filter(candidate__run=run, candidate__gone="")
    rows = rows.none() if run.status == Run.Status.ENDED else rows
    return rows.order_by(*order).values(
        "id",
        "due",
        assignment=F("id"),
        worker=F("candidate__worker__key"),
        question_key=F("question__key"),
        number=F("candidate__skill"),
        prompt=F("question__prompt"),
        choices=F("question__choices"),
        grading=F("question__grading"),
    )


def _described_rows(run: Run, rows: QuerySet[Assignment, Any]) -> list[dict[str, Any]]:
    names = [str(skill) for skill in run.skills]
    return [
        row
        | {
            "question": row["question_key"],
            "kind": kind_of(row["choices"], row["grading"]),
            "skill": names[row["number"]],
        }
        for row in rows
    ]
