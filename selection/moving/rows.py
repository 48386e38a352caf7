"""The rows of a run: who was asked what, and what came back."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Model

from selection.models import (
    Answer,
    Assignment,
    Candidate,
    Complaint,
    Practice,
    PracticeAnswer,
    Question,
    RecordedAnswer,
    Run,
    Worker,
)
from selection.reports.dump import COMPLAINT, PRACTISED

from .columns import of, value_of

AT_ONCE = 2000
CANDIDATE = (
    *("arm", "asked", "pulls", "void", "rewards", "seen", "gone", "gone_at", "by_hand"),
    *("by_hand_why", "verdict", "decided_in", "decided_why", "met", "skipped"),
    *("platform", "task"),
)
DEALT = {"position": "position", "shown": "shown", "due": "due", "dealt": "step"}
GIVEN = {
    **{name: name for name in ("right", "void", "expired", "at", "response")},
    "counted": "applied_in",
}
Row = TypeVar("Row", bound=Model)


def history(run: Run, model: type[Model], said: list[dict[str, Any]]) -> None:
    """Steps or events."""
    made = [model(run=run, **of(model, one, one)) for one in said]
    model._default_manager.bulk_create(made, AT_ONCE)


def take(document: dict[str, Any], run: Run, workers: list[Worker]) -> None:
    """Candidates, assignments, answers, and all else that its workers did."""
    said = document["candidates"]
    made = [
        Candidate(
            run=run,
            worker=workers[one["worker"]],
            skill=one["kind"],
            **of(Candidate, one, CANDIDATE),
        )
        for one in said
    ]
    Candidate.objects.bulk_create(made, AT_ONCE)
    questions = [_ids(skill.question_set_id) for skill in run.skills]
    columns = document["answer_columns"]
    asked = (
        (row, questions[row.skill], dict(zip(columns, answer, strict=True)))
        for row, one in zip(made, said, strict=True)
        for answer in one["answers"]
    )
    while chunk := list(islice(asked, AT_ONCE)):
        _answers(run, chunk)
    RecordedAnswer.objects.bulk_create(_waiting(made, said, questions), AT_ONCE)
    _besides(document, run, {row.arm: row for row in made})


def _ids(question_set: int) -> dict[int, int]:
    """By number."""
    found = Question.objects.filter(question_set=question_set).order_by()
    return dict(found.values_list("number", "pk"))


def _answers(run: Run, chunk: list[tuple[Candidate, dict[int, int], dict[str, Any]]]) -> None:
    assignments = [
        Assignment(
            candidate=row, question_id=ids[one["question"]], **_named(Assignment, one, DEALT)
        )
        for row, ids, one in chunk
    ]
    Assignment.objects.bulk_create(assignments)
    Answer.objects.bulk_create(
        Answer(assignment=assignment, run=run, **_named(Answer, one, GIVEN))
        for assignment, (_, _, one) in zip(assignments, chunk, strict=True)
        if one["right"] is not None
    )


def _named(model: type[Model], said: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {field: value_of(model, field, said[name]) for name, field in names.items()}


def _waiting(
    made: list[Candidate], said: list[dict[str, Any]], questions: list[dict[int, int]]
) -> Iterator[RecordedAnswer]:
    for row, one in zip(made, said, strict=True):
        for number, response in one["waiting"]:
            known = {"question_id": questions[row.skill][number], "response": response}
            yield RecordedAnswer(candidate=row, **known)


def _besides(document: dict[str, Any], run: Run, by_arm: dict[int, Candidate]) -> None:
    """Practice, and what was said of questions."""
    practice = [
        one
        for skill in run.skills
        for one in Practice.objects.filter(question_set=skill.question_set_id)
    ]
    PracticeAnswer.objects.bulk_create(
        PracticeAnswer(
            candidate=by_arm[arm],
            practice=practice[place],
            **of(PracticeAnswer, dict(zip(PRACTISED, rest, strict=True)), PRACTISED),
        )
        for arm, place, *rest in document["practised"]
    )
    for arm, position, *rest in document["complaints"]:
        Complaint.objects.create(
            assignment=Assignment.objects.get(candidate=by_arm[arm], position=position),
            **of(Complaint, dict(zip(COMPLAINT, rest, strict=True)), COMPLAINT),
        )
