"""Webhook of Label Studio: annotations become answers."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Schema

from selection.answers import label_studio
from selection.limits import LONGEST_KEY
from selection.models import Run

from .base import Scope, Token, api, find_object
from .fields import Id


class MessageIn(Schema):
    """A message of Label Studio; other fields are ignored."""

    action: str = Field(max_length=100, examples=["ANNOTATION_CREATED"])
    annotation: dict[str, Any] | None = None
    task: dict[str, Any] | None = None


class FieldQuery(Schema):
    field: str = Field(
        "question",
        min_length=1,
        max_length=LONGEST_KEY,
        description="Which of the task's data has the key of the question.",
    )


class HeardOut(Schema):
    state: Literal["answered", "waiting", "changed", "again", "ignored"] = Field(
        description="answered: it closed an open question. waiting: it counts when that worker is "
        "asked that question. changed: it waited, and waits with its new response. again: it was "
        "there already. ignored: it is no answer."
    )


@api.post(
    "/runs/{run_id}/label-studio",
    response=HeardOut,
    auth=Token(Scope.ANSWER),
    summary="Receive Label Studio webhook",
)
def hear_label_studio(
    request: HttpRequest, run_id: Id, payload: MessageIn, query: Query[FieldQuery]
) -> dict[str, str]:
    """Accept annotations as answers; a different second answer is refused with 409.

    Register this address in Label Studio's webhooks, with the header ``Authorization: Bearer`` and
    a token with the scope to answer.
    """
    run = find_object(request, Run, run_id)
    annotation = label_studio.read_annotation(payload.dict(), query.field)
    return {"state": label_studio.take_annotation(run, annotation) if annotation else "ignored"}
