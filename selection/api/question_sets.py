"""Question sets: name, instructions, and limits per question."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection.accounts import scoped
from selection.limits import LONGEST_TEXT
from selection.models import QuestionSet
from selection.runs import deletion

from .base import api
from .fields import WHOLE, Amount, Id, Name, Named, Yes, filter_named
from .idempotency import idempotent
from .pagination import paginate

Tries = Annotated[int, Field(ge=1, le=32767), WHOLE]


class SetIn(Schema):
    name: Name = Field(description="Unique in the team.", examples=["Sums"])
    instructions: str = Field(
        "",
        max_length=LONGEST_TEXT,
        description="Shown to workers above every question.",
        examples=["Add the numbers."],
    )
    markdown: Yes = Field(True, description="Instructions and questions are Markdown.")
    tries: Tries | None = Field(
        None,
        description="How often a practice question that must be right may be answered wrong. "
        "null: as often as they like.",
    )
    most_workers: Amount | None = Field(
        None,
        description="How many workers may be given one and the same question, over all runs. null: "
        "no limit.",
    )


class SetChangeIn(Schema, extra="forbid"):
    """Omitted fields stay."""

    name: Name | None = Field(None, examples=["Sums"])
    instructions: str | None = Field(None, max_length=LONGEST_TEXT, examples=["Add the numbers."])
    markdown: Yes | None = None
    tries: Tries | None = Field(None, description="null: as often as they like.")
    most_workers: Amount | None = Field(None, description="null: no limit.")


class SetOut(Schema):
    """A set of gold questions: questions with known answers."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["Sums"])
    instructions: str
    markdown: bool
    tries: int | None
    most_workers: int | None
    created: datetime
    questions: int = Field(description="Number of questions.", examples=[40])


def _team_sets(request: HttpRequest) -> Any:
    return scoped(QuestionSet, request).annotate(size=Count("questions"))


def find_question_set(request: HttpRequest, set_id: int) -> Any:
    return get_object_or_404(_team_sets(request), pk=set_id)


def _set_payload(item: Any) -> dict[str, Any]:
    names = ("id", "name", "instructions", "markdown", "tries", "most_workers", "created")
    return {**{name: getattr(item, name) for name in names}, "questions": item.size}


@api.get("/question-sets", response=list[SetOut])
def list_question_sets(
    request: HttpRequest, response: HttpResponse, query: Query[Named]
) -> list[dict[str, Any]]:
    """Return the question sets, oldest first."""
    rows = filter_named(_team_sets(request), query)
    return [_set_payload(item) for item in paginate(request, response, rows, query)]


@api.post("/question-sets")
@idempotent(SetOut)
def create_question_set(request: HttpRequest, payload: SetIn) -> dict[str, Any]:
    """Create an empty question set."""
    team = request.auth.team_id  # type: ignore[attr-defined]
    item = QuestionSet(team_id=team, **payload.dict())
    deletion.store_item(item)
    return show_question_set(request, item.pk)


@api.get("/question-sets/{set_id}", response=SetOut)
def show_question_set(request: HttpRequest, set_id: Id) -> dict[str, Any]:
    """Return a question set."""
    return _set_payload(find_question_set(request, set_id))


@api.patch("/question-sets/{set_id}", response=SetOut)
def change_question_set(request: HttpRequest, set_id: Id, payload: SetChangeIn) -> dict[str, Any]:
    """Change a question set's name, instructions or limits."""
    item = find_question_set(request, set_id)
    for name, value in payload.dict(exclude_unset=True).items():
        if value is not None or name in ("tries", "most_workers"):
            setattr(item, name, value)
    deletion.store_item(item)
    return _set_payload(item)


@api.delete("/question-sets/{set_id}")
def delete_question_set(request: HttpRequest, set_id: Id) -> None:
    """Delete a question set with its questions; 409 while a run needs it."""
    deletion.delete_item(find_question_set(request, set_id))
