"""What is kept about a worker: given out, and taken away."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Field, Schema

from selection import privacy
from selection.accounts import scoped
from selection.models import Worker, stored_spellings

from .base import ERRORS, api, requester_name
from .fields import Key


class ErasedOut(Schema):
    pseudonym: str = Field(description="What the worker is called from now on.")
    runs: list[str]
    withdrawn: list[str] = Field(description="Runs that went on, which the worker is out of.")


@api.get("/workers/{path:worker}/data", response={200: dict[str, Any], **ERRORS}, tags=["workers"])
def worker_data(request: HttpRequest, worker: Key) -> dict[str, Any]:
    """All that is kept about a worker, by id, in all pools and runs of the team."""
    return privacy.export_worker(_worker_rows(request, worker))


@api.delete("/workers/{path:worker}/data", response={200: ErasedOut, **ERRORS}, tags=["workers"])
def erase_worker(request: HttpRequest, worker: Key) -> Any:
    """Take away who a worker is; answers, verdicts and promises stay. There is no way back."""
    return privacy.erase_worker(_worker_rows(request, worker), requester_name(request))


def _worker_rows(request: HttpRequest, worker: str) -> list[Worker]:
    """A token is of one team. Raises Http404 for an id that is in none of its pools."""
    rows = scoped(Worker, request).filter(key__in=stored_spellings([worker]))
    found = list(rows.select_related("pool").order_by("pk"))
    if not found:
        raise Http404
    return found
