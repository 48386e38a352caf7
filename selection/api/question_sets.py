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
from .fields import WHOLE, Amount, Id, Key, Named, Yes, changes_of, filter_named
from .idempotency import idempotent
from .pagination import paginate

Tries = Annotated[int, Field(ge=1, le=32767), WHOLE]


class SetIn(Schema):
    name: Key = Field(description="Unique in the team.", examples=["Sums"])
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


SetChangeIn: Any = changes_of(SetIn)


class SetOut(Schema):
    """A set of gold questions: questions with known answers."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["Sums"])
    instructions: str
    markdown: bool
    tries: int | None
    most_workers: int | None
    created_at: datetime = Field(alias="created")
    questions: int = Field(alias="size", description="Number of questions.", examples=[40])


def _team_sets(request: HttpRequest) -> Any:
    return scoped(QuestionSet, request).annotate(size=Count("questions"))


def find_question_set(request: HttpRequest, set_id: int) -> Any:
    return get_object_or_404(_team_sets(request), pk=set_id)


@api.get("/question-sets", response=list[SetOut])
def list_question_sets(
    request: HttpRequest, response: HttpResponse, query: Query[Named]
) -> list[QuestionSet]:
    """Return the question sets, oldest first."""
    return paginate(request, response, filter_named(_team_sets(request), query), query)


@api.post("/question-sets")
@idempotent(SetOut)
def create_question_set(request: HttpRequest, payload: SetIn) -> Any:
    """Create an empty question set."""
    team = request.auth.team_id  # type: ignore[attr-defined]
    item = QuestionSet(team_id=team, **payload.dict())
    deletion.store_item(item)
    return show_question_set(request, item.pk)


@api.get("/question-sets/{set_id}", response=SetOut)
def show_question_set(request: HttpRequest, set_id: Id) -> Any:
    """Return a question set."""
    return find_question_set(request, set_id)


@api.patch("/question-sets/{set_id}", response=SetOut)
def change_question_set(request: HttpRequest, set_id: Id, payload: SetChangeIn) -> Any:
    """Change a question set's name, instructions or limits."""
    item = find_question_set(request, set_id)
    for name, value in payload.read_changes().items():
        setattr(item, name, value)
    deletion.store_item(item)
    return item


@api.delete("/question-sets/{set_id}")
def delete_question_set(request: HttpRequest, set_id: Id) -> None:
    """Delete a question set with its questions; 409 while a run needs it."""
    deletion.delete_item(find_question_set(request, set_id))
