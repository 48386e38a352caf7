"""Practice questions of a question set: asked first, explained, and never counted."""

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Schema, Status

from selection.limits import LONGEST_TEXT
from selection.models import Practice
from selection.questions import practice

from .base import ERRORS, api
from .fields import MOST, Id, Yes
from .idempotency import KEYED, idempotent
from .question_sets import set_of
from .questions import GoldIn, Grading, way_of


class PracticeIn(GoldIn):
    """A question to learn by: its answer is told."""

    number: int = Field(0, ge=0, le=MOST, description="They are asked in this order.")
    explanation: str = Field(
        "",
        max_length=LONGEST_TEXT,
        description="Shown once it is answered.",
        examples=["Carry the 1."],
    )
    must: Yes = Field(False, description="Nobody is tested before they answered this one right.")


class PracticeOut(Schema):
    id: int
    number: int
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    explanation: str
    must: bool


@api.get(
    "/question-sets/{set_id}/practice",
    response={200: list[PracticeOut], **ERRORS},
    tags=["questions"],
)
def list_practice(request: HttpRequest, set_id: Id) -> Any:
    """All practice questions of a set, in the order in which they are asked."""
    return set_of(request, set_id).practice.all()


@api.post(
    "/question-sets/{set_id}/practice",
    response={201: PracticeOut, **ERRORS},
    tags=["questions"],
    openapi_extra=KEYED,
)
@idempotent(PracticeOut)
def create_practice(request: HttpRequest, set_id: Id, payload: PracticeIn) -> Practice:
    """Add a practice question, also while runs go on."""
    return _store_practice(Practice(question_set=set_of(request, set_id)), payload)


@api.put(
    "/question-sets/{set_id}/practice/{practice_id}",
    response={200: PracticeOut, **ERRORS},
    tags=["questions"],
)
def replace_practice(
    request: HttpRequest, set_id: Id, practice_id: Id, payload: PracticeIn
) -> Practice:
    """Give a practice question all that it has anew; who has done it is not asked again."""
    return _store_practice(_find_practice(request, set_id, practice_id), payload)


@api.delete(
    "/question-sets/{set_id}/practice/{practice_id}",
    response={204: None, **ERRORS},
    tags=["questions"],
)
def delete_practice(request: HttpRequest, set_id: Id, practice_id: Id) -> Status[None]:
    """Take a practice question away, with what was answered to it."""
    _find_practice(request, set_id, practice_id).delete()
    return Status(204, None)


def _find_practice(request: HttpRequest, set_id: int, pk: int) -> Practice:
    found: Practice = get_object_or_404(set_of(request, set_id).practice, pk=pk)
    return found


def _store_practice(one: Practice, payload: PracticeIn) -> Practice:
    for name, value in payload.dict(exclude={"grading"}).items():
        setattr(one, name, value)
    one.grading = way_of(payload.grading)
    practice.store_practice(one)
    return one
