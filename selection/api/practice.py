"""Practice questions of a question set: asked first, explained, and never counted."""

from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Schema

from selection.limits import LONGEST_TEXT
from selection.models import Practice
from selection.questions import practice

from .base import api
from .fields import MOST, WHOLE, Id, Yes
from .idempotency import idempotent
from .question_sets import find_question_set
from .questions import GoldIn, Grading, stored_grading


class PracticeIn(GoldIn):
    """A question for practice: its answer is shown."""

    number: Annotated[int, Field(ge=0, le=MOST), WHOLE] = Field(
        0, description="They are asked in this order."
    )
    explanation: str = Field(
        "",
        max_length=LONGEST_TEXT,
        description="Shown once it is answered.",
        examples=["Carry the 1."],
    )
    required: Yes = Field(False, description="Workers must answer it right before they are tested.")


class PracticeOut(Schema):
    id: int
    number: int
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    explanation: str
    required: bool


@api.get(
    "/question-sets/{set_id}/practice",
    response=list[PracticeOut],
    summary="List practice questions",
)
def list_practice(request: HttpRequest, set_id: Id) -> Any:
    """Return the practice questions of a set, in the order in which they are asked."""
    return find_question_set(request, set_id).practice.all()


@api.post("/question-sets/{set_id}/practice", summary="Create practice question")
@idempotent(PracticeOut)
def create_practice(request: HttpRequest, set_id: Id, payload: PracticeIn) -> Practice:
    """Add a practice question, even while runs are running."""
    return _store_practice(Practice(question_set=find_question_set(request, set_id)), payload)


@api.put(
    "/question-sets/{set_id}/practice/{practice_id}",
    response=PracticeOut,
    summary="Replace practice question",
)
def replace_practice(
    request: HttpRequest, set_id: Id, practice_id: Id, payload: PracticeIn
) -> Practice:
    """Replace a practice question's fields; workers that have answered it are not asked again."""
    return _store_practice(_find_practice(request, set_id, practice_id), payload)


@api.delete("/question-sets/{set_id}/practice/{practice_id}", summary="Delete practice question")
def delete_practice(request: HttpRequest, set_id: Id, practice_id: Id) -> None:
    """Delete a practice question and the answers to it."""
    _find_practice(request, set_id, practice_id).delete()


def _find_practice(request: HttpRequest, set_id: int, pk: int) -> Practice:
    question: Practice = get_object_or_404(find_question_set(request, set_id).practice, pk=pk)
    return question


def _store_practice(question: Practice, payload: PracticeIn) -> Practice:
    for name, value in payload.dict(exclude={"grading"}).items():
        setattr(question, name, value)
    question.grading = stored_grading(payload.grading)
    practice.store_practice(question)
    return question
