"""Jobs: accepted at once, and polled."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Field, Schema, Status

from selection.accounts import scoped
from selection.models import Job
from selection.outbox import jobs

from .base import Token, api, describe_location


class JobOut(Schema):
    """A request to another machine; it is deleted after an hour."""

    LATER: ClassVar = describe_location("Address to poll until the state is done or failed.")

    id: UUID
    kind: str = Field(examples=["models"])
    state: str = Field(description="waiting, working, done or failed.")
    result: Any = Field(None, description="null until the state is done.")
    error: str = Field(description="Reason of a failure; empty without a failure.")
    field: str = Field(description="The field with the fault; usually empty.")
    status: int = Field(description="HTTP status that fits the failure; 0 without a failure.")
    created_at: datetime = Field(alias="created")


@api.get("/jobs/{job_id}", response=JobOut, auth=Token(manages=True))
def show_job(request: HttpRequest, job_id: UUID) -> Job:
    """Return the state of a request to another machine, and its result."""
    job: Job = jobs.find_job(job_id, scoped(Job, request))
    return job


def accept_job(response: HttpResponse, job: Job) -> Status[Any]:
    response["Location"] = reverse("api-1:show_job", args=[job.pk])
    return Status(202, job)
