"""Pools and their workers."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection.accounts import scoped
from selection.imports import rows
from selection.imports.row_parsers import WorkerRow
from selection.limits import LONGEST_EMAIL, LONGEST_KEY, MOST_ENTRIES
from selection.models import Pool, Worker
from selection.runs import deletion

from .base import api
from .fields import Id, Key, Named, RowsOut, changes_of, filter_named
from .idempotency import idempotent
from .pagination import Page, paginate
from .schemas import WorkerIn


class PoolIn(Schema):
    name: Key = Field(description="Unique in the team.", examples=["Annotators of spring"])


class PoolOut(Schema):
    """A pool of workers."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["Annotators of spring"])
    created_at: datetime = Field(alias="created")
    workers: int = Field(alias="size", description="Number of workers.", examples=[24])


class PoolWorkerIn(WorkerIn):
    email: str = Field(
        "",
        max_length=LONGEST_EMAIL,
        description="For invitations; never returned. Empty: a stored one stays.",
        examples=["ada@example.org"],
    )


class WorkersIn(Schema):
    workers: list[PoolWorkerIn] = Field(min_length=1, max_length=MOST_ENTRIES)


WorkerChangeIn: Any = changes_of(PoolWorkerIn, "worker")


class PoolWorkerOut(Schema):
    worker: str = Field(alias="key", examples=["A1B2C3"])
    name: str
    attributes: dict[str, Any] = Field(examples=[{"language": "English"}])


class WorkersQuery(Page):
    search: str = Field(
        "", max_length=LONGEST_KEY, description="Only workers with this in their id or name."
    )


def _team_pools(request: HttpRequest) -> Any:
    return scoped(Pool, request).annotate(size=Count("workers"))


def _find_pool(request: HttpRequest, pool_id: int) -> Any:
    return get_object_or_404(_team_pools(request), pk=pool_id)


@api.get("/pools", response=list[PoolOut])
def list_pools(request: HttpRequest, response: HttpResponse, query: Query[Named]) -> list[Pool]:
    """Return the pools, oldest first."""
    return paginate(request, response, filter_named(_team_pools(request), query), query)


@api.post("/pools")
@idempotent(PoolOut)
def create_pool(request: HttpRequest, payload: PoolIn) -> Any:
    """Create an empty pool."""
    pool = Pool(name=payload.name, team_id=request.auth.team_id)  # type: ignore[attr-defined]
    deletion.store_item(pool)
    return show_pool(request, pool.pk)


@api.get("/pools/{pool_id}", response=PoolOut)
def show_pool(request: HttpRequest, pool_id: Id) -> Any:
    """Return a pool."""
    return _find_pool(request, pool_id)


@api.patch("/pools/{pool_id}", response=PoolOut)
def rename_pool(request: HttpRequest, pool_id: Id, payload: PoolIn) -> Any:
    """Rename a pool."""
    pool = _find_pool(request, pool_id)
    pool.name = payload.name
    deletion.store_item(pool)
    return pool


@api.delete("/pools/{pool_id}")
def delete_pool(request: HttpRequest, pool_id: Id) -> None:
    """Delete a pool with its workers; 409 while a run needs it."""
    deletion.delete_item(_find_pool(request, pool_id))


# -- workers


@api.get("/pools/{pool_id}/workers", response=list[PoolWorkerOut])
def list_pool_workers(
    request: HttpRequest, response: HttpResponse, pool_id: Id, query: Query[WorkersQuery]
) -> list[Any]:
    """Return the workers of a pool, oldest first."""
    workers = _find_pool(request, pool_id).workers.all()
    if query.search:
        workers = workers.filter(Q(key__icontains=query.search) | Q(name__icontains=query.search))
    return paginate(request, response, workers, query)


@api.put("/pools/{pool_id}/workers", response=RowsOut, summary="Add workers")
def put_workers(request: HttpRequest, pool_id: Id, payload: WorkersIn) -> dict[str, Any]:
    """Add workers to a pool, at most 10,000 at once. Repeating it changes nothing.

    Existing workers get the new name and attributes.
    """
    pool = _find_pool(request, pool_id)
    worker_rows = [
        WorkerRow(row, worker.worker, worker.name, worker.attributes, worker.email.strip())
        for row, worker in enumerate(payload.workers, 1)
    ]
    return rows.report_rows(pool, "workers", rows.store_workers(pool, worker_rows))


@api.get("/pools/{pool_id}/workers/{key:worker}", response=PoolWorkerOut)
def show_pool_worker(request: HttpRequest, pool_id: Id, worker: Key) -> Worker:
    """Return a worker of a pool."""
    return _find_worker(request, pool_id, worker)


def _find_worker(request: HttpRequest, pool_id: int, key: str) -> Worker:
    workers = _find_pool(request, pool_id).workers
    worker: Worker = get_object_or_404(workers, key=key)
    return worker


@api.patch("/pools/{pool_id}/workers/{key:worker}", response=PoolWorkerOut)
def change_pool_worker(
    request: HttpRequest, pool_id: Id, worker: Key, payload: WorkerChangeIn
) -> Worker:
    """Change a worker's name, attributes or e-mail address."""
    row = _find_worker(request, pool_id, worker)
    rows.rename_worker(row, payload.name, payload.attributes, payload.email)
    return row


@api.delete("/pools/{pool_id}/workers/{key:worker}")
def delete_pool_worker(request: HttpRequest, pool_id: Id, worker: Key) -> None:
    """Remove a worker from a pool; 409 for a worker of a run."""
    deletion.delete_item(_find_worker(request, pool_id, worker))
