"""Status of participants as a platform reports it."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Field, Schema

from selection.limits import LONGEST_KEY, LONGEST_WHY, MOST_ENTRIES
from selection.models import Run
from selection.runs.roster import platform_submissions

from .base import api, find_object, requester_name
from .fields import Id


class SubmissionIn(Schema):
    worker: str = Field(min_length=1, max_length=LONGEST_KEY)
    status: str = Field(
        max_length=100,
        description="As the platform says it. RETURNED, TIMED-OUT and ABANDONED free the place; "
        "everything else changes nothing.",
        examples=["RETURNED"],
    )


class SubmissionsIn(Schema):
    submissions: list[SubmissionIn] = Field(min_length=1, max_length=MOST_ENTRIES)
    reason: str = Field("", max_length=LONGEST_WHY)


class FreedOut(Schema):
    freed: list[str] = Field(description="Workers that no longer hold a place.")
    unknown: list[str] = Field(
        description="Workers that left the platform's task but are not in this run."
    )
    others: int = Field(description="Workers with another status, gone before, or judged.")


@api.post("/runs/{run_id}/submissions", response=FreedOut, summary="Report returned submissions")
def report_submissions(request: HttpRequest, run_id: Id, payload: SubmissionsIn) -> dict[str, Any]:
    """Report workers that returned their place on the platform or timed out; safe to repeat."""
    run = find_object(request, Run, run_id)
    statuses = {submission.worker: submission.status for submission in payload.submissions}
    who = requester_name(request)
    return asdict(platform_submissions.report_submissions(run, statuses, who, payload.reason))
