"""A run's use of Prolific: its draft study, a dry run, and bonuses."""

from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Schema, Status

from selection import connectors, exports
from selection.connectors.platforms import prolific
from selection.connectors.views import message_address
from selection.limits import LONGEST_KEY
from selection.models import Run, RunConnection
from selection.worker import links

from .base import Token, api, find_object, requester_name
from .connections import ConnectorCallOut
from .fields import Id, Yes, price_field
from .jobs import JobOut, accept_job

MANAGES = Token(manages=True)


class BonusBatchOut(Schema):
    """A batch of bonuses, in the currency of the study."""

    key: str
    state: str = Field(
        description="confirmed, created, paying, paid, uncertain, unpaid or failed; empty: it is "
        "due, and waits for its confirmation."
    )
    total: float
    bonuses: dict[str, float] = Field(alias="rows", description="Amount by participant.")


class ProlificOut(Schema):
    study: str = Field(description="Id of the study; empty until it is created.")
    groups: dict[str, str] = Field(description="Ids of the groups: accept, and block.")
    submissions: dict[str, int] = Field(description="Their number by state.")
    problem: str
    batches: list[BonusBatchOut]


class PlannedCallOut(Schema):
    method: str
    path: str
    body: Any = None


class PlannedCallsJobOut(JobOut):
    result: list[PlannedCallOut] | None = None


class ConfirmIn(Schema):
    total: Decimal = price_field("The amount due, to confirm the batch.", required=True)


class SettleIn(Schema):
    paid: Yes = Field(description="True if Prolific shows the payment.")


@api.get("/runs/{run_id}/prolific", response=ProlificOut, auth=MANAGES)
def show_prolific(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the study, the groups, the submissions and the bonuses of a run."""
    link = _find_link(request, run_id)
    return {
        "study": link.memory.get("study", ""),
        "groups": link.memory.get("groups", {}),
        "submissions": prolific.count_submissions(link),
        "problem": link.problem,
        "batches": prolific.list_batches(link),
    }


@api.post("/runs/{run_id}/prolific/study", response={202: ConnectorCallOut})
def create_study(request: HttpRequest, run_id: Id) -> Status[Any]:
    """Create a draft study whose participants follow the run's join link; publish it there."""
    link = _find_link(request, run_id)
    return Status(202, prolific.request_study(link, links.prolific_address(link.run)))


@api.post("/runs/{run_id}/prolific/messages", response={202: ConnectorCallOut})
def subscribe_messages(request: HttpRequest, run_id: Id) -> Status[Any]:
    """Let Prolific send messages about submissions, for all runs of the connection."""
    link = _find_link(request, run_id)
    return Status(202, prolific.request_messages(link, message_address(link)))


@api.get("/runs/{run_id}/prolific/dry-run", response={202: PlannedCallsJobOut}, auth=MANAGES)
def list_planned_calls(request: HttpRequest, response: HttpResponse, run_id: Id) -> Status[Any]:
    """List every call that would be made now; only those that read are made."""
    link = _find_link(request, run_id)
    due, url = exports.find_prolific_amounts(link.run), links.prolific_address(link.run)
    job = connectors.request_dry_run(link, url, due, requester_name(request))
    return accept_job(response, job)


@api.get("/runs/{run_id}/prolific/bonuses", response=BonusBatchOut, auth=MANAGES)
def show_bonuses(request: HttpRequest, run_id: Id) -> Any:
    """Return the bonuses that are due, at most 200 at once."""
    link = _find_link(request, run_id)
    return prolific.propose_bonuses(link, exports.prolific_amounts(link.run))


@api.post("/runs/{run_id}/prolific/bonuses", response={202: BonusBatchOut})
def confirm_bonuses(request: HttpRequest, run_id: Id, payload: ConfirmIn) -> Status[Any]:
    """Pay the bonuses that are due, if their amount is still this one."""
    link = _find_link(request, run_id)
    due = exports.prolific_amounts(link.run)
    who = requester_name(request)
    return Status(202, prolific.confirm_bonuses(link, due, payload.total, who))


@api.post("/runs/{run_id}/prolific/bonuses/{batch}")
def settle_bonuses(request: HttpRequest, run_id: Id, batch: str, payload: SettleIn) -> None:
    """Say whether an uncertain batch was paid; unpaid bonuses are due again."""
    link = _find_link(request, run_id)
    prolific.settle_bonuses(link, batch[:LONGEST_KEY], payload.paid, requester_name(request))


def _find_link(request: HttpRequest, run_id: int) -> RunConnection:
    return prolific.find_link(find_object(request, Run, run_id))
