"""Personal data of workers: export and erasure."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Field, Schema

from selection import privacy
from selection.accounts import scoped
from selection.models import Worker

from .base import api, requester_name
from .fields import Key


class ErasedOut(Schema):
    pseudonym: str = Field(description="The worker's id from now on.")
    runs: list[str]
    withdrawn: list[str] = Field(description="Unfinished runs that the worker was withdrawn from.")


@api.get("/workers/{key:worker}/data", response=dict[str, Any], summary="Export worker data")
def show_worker_data(request: HttpRequest, worker: Key) -> dict[str, Any]:
    """Return all data about a worker, by id, in all pools and runs of the team."""
    return privacy.export_worker(_worker_rows(request, worker))


@api.delete("/workers/{key:worker}/data", response=ErasedOut)
def erase_worker(request: HttpRequest, worker: Key) -> Any:
    """Erase a worker's identity; answers, verdicts and guarantees stay. This cannot be undone."""
    return privacy.erase_worker(_worker_rows(request, worker), requester_name(request))


def _worker_rows(request: HttpRequest, worker: str) -> list[Worker]:
    queryset = scoped(Worker, request).filter(key=worker)
    rows = list(queryset.select_related("pool").order_by("pk"))
    if not rows:
        raise Http404
    return rows
