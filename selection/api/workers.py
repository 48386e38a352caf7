"""Workers of a run."""

from collections.abc import Callable
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Status

from selection import connectors, reports
from selection.models import Candidate, Run
from selection.runs import manual_verdicts
from selection.runs.roster import enrolment, membership
from selection.worker import link_rotation, links

from .base import api, find_object, may_manage, requester_name
from .fields import Id, Key
from .pagination import paginate
from .schemas import (
    LinksOut,
    ReasonIn,
    RunWorkersQuery,
    VerdictIn,
    WorkerIn,
    WorkerOut,
)


@api.get("/runs/{run_id}/workers", response=list[WorkerOut])
def list_workers(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[RunWorkersQuery]
) -> list[dict[str, Any]]:
    """Return the workers of a run, with their presence and the link to their page."""
    run = find_object(request, Run, run_id)
    rows = run.candidates.filter(skill=0).select_related("worker")
    if query.search:
        name_matches = Q(worker__name__icontains=query.search)
        rows = rows.filter(name_matches | Q(worker__key__icontains=query.search))
    return [
        _worker_payload(row, request)
        for row in paginate(request, response, rows, query, "worker__key")
    ]


@api.post("/runs/{run_id}/workers", response={200: WorkerOut, 201: WorkerOut})
def join_run(request: HttpRequest, run_id: Id, payload: WorkerIn) -> Status[Any]:
    """Add a worker to an open roster; 200 for a worker already on it, 409 if it is closed."""
    run = find_object(request, Run, run_id)
    row, new = enrolment.enrol_worker(run, payload.worker, payload.name, payload.attributes)
    return Status(201 if new else 200, _worker_payload(row, request))


@api.post("/runs/{run_id}/workers/{key:worker}/withdraw", response=WorkerOut)
def withdraw_worker(
    request: HttpRequest, run_id: Id, worker: Key, payload: ReasonIn
) -> dict[str, Any]:
    """Withdraw a worker from a run."""
    return _move_worker(membership.withdraw_workers, request, run_id, worker, payload)


@api.post("/runs/{run_id}/workers/{key:worker}/return", response=WorkerOut)
def readmit_worker(
    request: HttpRequest, run_id: Id, worker: Key, payload: ReasonIn
) -> dict[str, Any]:
    """Let a worker that is gone take part again."""
    return _move_worker(membership.take_back, request, run_id, worker, payload)


def _move_worker(
    move: Callable[[Run, list[str], str, str], object],
    request: HttpRequest,
    run_id: Id,
    worker: str,
    payload: ReasonIn,
) -> dict[str, Any]:
    run = find_object(request, Run, run_id)
    move(run, [worker], requester_name(request), payload.reason)
    return _worker_payload(_find_candidate(run, worker), request)


@api.post("/runs/{run_id}/workers/{key:worker}/verdict", response=WorkerOut)
def give_verdict(
    request: HttpRequest, run_id: Id, worker: Key, payload: VerdictIn
) -> dict[str, Any]:
    """Accept or reject a worker by hand, apart from the algorithm's verdict; in the first skill."""
    row = _find_candidate(find_object(request, Run, run_id), worker)
    verdict = {"accepted": 1, "rejected": -1, None: None}[payload.verdict]
    manual_verdicts.override_verdict(row, verdict, requester_name(request), payload.reason)
    connectors.request_exchanges(run_id)
    return _worker_payload(row, request)


@api.post("/runs/{run_id}/workers/{key:worker}/link", response=WorkerOut)
def replace_link(
    request: HttpRequest, run_id: Id, worker: Key, payload: ReasonIn
) -> dict[str, Any]:
    """Replace a worker's link; the old one becomes invalid."""
    row = _find_candidate(find_object(request, Run, run_id), worker)
    link_rotation.rotate_worker_link(row, requester_name(request), payload.reason)
    return _worker_payload(row, request)


@api.delete("/runs/{run_id}/workers/{key:worker}/link")
def revoke_link(request: HttpRequest, run_id: Id, worker: Key) -> None:
    """Invalidate a worker's link. If a new one is needed, the list of workers has it."""
    row = _find_candidate(find_object(request, Run, run_id), worker)
    link_rotation.rotate_worker_link(row, requester_name(request))


@api.post("/runs/{run_id}/links", response=LinksOut)
def replace_links(request: HttpRequest, run_id: Id, payload: ReasonIn) -> dict[str, Any]:
    """Replace all workers' links and the join link."""
    run = find_object(request, Run, run_id)
    link_rotation.rotate_all_links(run, requester_name(request), payload.reason)
    replaced = run.candidates.filter(skill=0).count()
    return {"replaced": replaced, "join_link": links.join_address(run)}


def _find_candidate(run: Run, worker: str) -> Candidate:
    rows = run.candidates.select_related("worker", "run")
    return get_object_or_404(rows, worker__key=worker, skill=0)


def _worker_payload(row: Candidate, request: HttpRequest) -> dict[str, Any]:
    return {
        "worker": row.worker.key,
        "name": row.worker.name,
        "presence": reports.presence_of(row),
        "seen": row.seen,
        "by_hand": "" if row.by_hand is None else row.get_by_hand_display(),
        "link": links.worker_url(row.pk, row.link_version) if may_manage(request) else "",
    }
