"""History of a run: answers, steps, events."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Schema

from selection import reports
from selection.api.base import api, find_object
from selection.api.fields import Id
from selection.api.pagination import Page, paginate
from selection.api.schemas import EventOut, HistoryOut, StepOut
from selection.limits import LONGEST_KEY
from selection.models import Run


class AnswersQuery(Page):
    worker: str = Field("", max_length=LONGEST_KEY, description="Only answers of this worker.")
    question: str = Field("", max_length=LONGEST_KEY, description="Only answers to this question.")
    outcome: Literal["right", "not right", "too late", "question retired"] | None = None


class AnswerOut(Schema):
    assignment: int
    worker: str
    question: str
    skill: str
    position: int = Field(description="In the worker's own order of questions, from 0.")
    response: str
    outcome: str = Field(description="right, not right, too late or question retired.")
    answered_at: datetime = Field(alias="at")
    counted_in: int | None = Field(description="The step that counted it; null: none has yet.")


@api.get("/runs/{run_id}/answers", response=list[AnswerOut], tags=["answers"])
def list_answers(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[AnswersQuery]
) -> list[dict[str, Any]]:
    """Return the graded answers of a run, in the order in which their questions were assigned."""
    run = find_object(request, Run, run_id)
    rows = reports.answers_of(run, query.worker, query.question, query.outcome)
    names = [str(skill) for skill in run.skills]
    return [
        {
            **row,
            "assignment": row["assignment_id"],
            "outcome": reports.describe_outcome(row),
            "skill": names[row["number"]],
        }
        for row in paginate(request, response, rows, query, by="assignment_id")
    ]


@api.get("/runs/{run_id}/history", response=HistoryOut, summary="Show run history")
def show_history(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return a run's events with their actors, and its steps, thinned to at most 200."""
    run = find_object(request, Run, run_id)
    return {"events": run.events.all(), "steps": reports.read_history(run)}


@api.get("/runs/{run_id}/steps", response=list[StepOut])
def list_steps(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[Page]
) -> list[Any]:
    """Return every step of a run, in order."""
    run = find_object(request, Run, run_id)
    return paginate(request, response, run.history.all(), query, by="number")


@api.get("/runs/{run_id}/events", response=list[EventOut])
def list_events(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[Page]
) -> list[Any]:
    """Return a run's events and who or what caused them, latest first."""
    run = find_object(request, Run, run_id)
    return paginate(request, response, run.events.all(), query, by="-pk")
