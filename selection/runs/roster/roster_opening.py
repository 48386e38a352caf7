"""Joining an open roster, closing and opening it."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count

from django.db import transaction
from django.db.models import F, Max, QuerySet

from selection import db_clock, wakeups
from selection.errors import Conflict, Refused
from selection.history import events
from selection.models import Candidate, Run, Worker
from selection.texts import counted
from topk.roster import CLOSED, OPENED

from . import eligibility, quotas, worker_prices
from .membership import lock_active_run, mark_roster_changed, refuse_over, refuse_rounds


@transaction.atomic
def join_roster(run: Run, worker: Worker) -> Candidate:
    """Add a worker of the run's pool to its open roster; return the candidate in the first skill.

    A worker on the roster already stays unchanged. Raises Conflict if the roster is closed.
    """
    locked = lock_active_run(run)
    candidate = locked.candidates.filter(worker=worker, skill=0).first()
    if candidate is not None:
        return candidate
    _add_workers(locked, [worker])
    return locked.candidates.get(worker=worker, skill=0)


@transaction.atomic
def join_others(run: Run, who: str = "", why: str = "") -> int:
    """Let all other workers of the run's pool join; return their number.

    A closed roster is opened for them and closed again. Raises Conflict or Refused if joining is
    impossible.
    """
    locked = lock_active_run(run)
    others = list(workers_not_in_run(locked))
    if not others:
        raise Refused(f"All workers of the pool “{locked.pool}” are in this run already.")
    closed = not locked.enrolling
    if closed:
        open_roster(locked, who, why)
        locked = lock_active_run(run)
    _add_workers(locked, others)
    events.write_event(
        locked,
        "join",
        f"Joined from the pool: {counted(len(others), 'worker')}.",
        who,
        why,
    )
    locked.refresh_from_db()
    if closed and locked.enrolling:
        close_roster(locked, who, why)
    return len(others)


def workers_not_in_run(run: Run) -> QuerySet[Worker]:
    return eligibility.eligible_workers(run).exclude(candidates__run=run)


def _add_workers(run: Run, workers: Sequence[Worker]) -> None:
    """Add workers to the roster of a locked run, and close it if it is full."""
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; workers cannot join now.")
    for worker in workers:
        if worker.pool_id != run.pool_id:
            raise Refused(f"“{worker}” is not in the pool “{run.pool}” of this run.")
        if reason := eligibility.explain_ineligible(run, worker):
            raise Conflict(reason)
    last = run.candidates.aggregate(last=Max("arm"))["last"]
    arms = count(0 if last is None else last + 1)
    rows = [
        Candidate(run=run, worker=worker, skill=skill.number, arm=next(arms))
        for worker in workers
        for skill in run.skills
    ]
    eligibility.pass_over(run, rows)
    Candidate.objects.bulk_create(rows)
    if run.quotas:
        run.options["quotas"] = _quotas_with(run, workers)
    if run.by_price:
        run.options["prices"] += worker_prices.list_prices(run, workers)
    Run.objects.filter(pk=run.pk).update(joined=F("joined") + len(workers), options=run.options)
    mark_roster_changed(run)
    if run.enrol_most and _roster_size(run) >= run.enrol_most and not too_few(run):
        close_roster(run)


def _quotas_with(run: Run, workers: Sequence[Worker]) -> dict[str, object]:
    option = run.options["quotas"]
    values = [option["names"][group] for group in option["groups"]]
    attribute = run.quotas["attribute"]
    values += [quotas.value_of(worker.attributes, attribute) for worker in workers]
    return quotas.build_quota_option(run.quotas, values)


@transaction.atomic
def close_roster(run: Run, who: str = "", why: str = "") -> int:
    """Close the roster, so that the run may accept and reject; return the run's id.

    Raises Conflict if it is not open, Refused while too few have joined to choose from.
    """
    locked = lock_active_run(run)
    if not locked.enrolling:
        raise Conflict(f"The roster of the run “{locked}” is closed already.")
    if refusal := too_few(locked):
        raise Refused(refusal)
    locked.enrolling, locked.absence_since = False, db_clock.database_now()
    locked.save(update_fields=["enrolling", "absence_since"])
    events.write_event(
        locked,
        CLOSED,
        f"The roster closed with {counted(_roster_size(locked), 'worker')}.",
        who,
        why,
    )
    wakeups.request_step(locked.pk)
    return int(locked.pk)


def too_few(run: Run) -> str:
    """Find the reason against closing the roster yet, in a sentence; empty if it can close."""
    size, needed = _roster_size(run), max(skill.k for skill in run.skills)
    if run.several and run.one_kind_each:
        needed = max(needed, run.total - 1)
    if size <= needed:
        have = counted(size, "worker", "have") if size else "No workers have"
        return (
            f"{have} joined; the roster can close when there are more than {needed}, because "
            "otherwise there is no choice."
        )
    if run.quotas:
        rows = run.candidates.filter(gone="").values_list("worker__attributes", flat=True)
        values = [quotas.value_of(row, run.quotas["attribute"]) for row in rows]
        try:
            quotas.check_quotas(run.quotas, values, run.k)
        except Refused as refusal:
            return f"{refusal} The roster stays open until the quotas can be met."
    return ""


def _roster_size(run: Run) -> int:
    return run.candidates.filter(skill=0, gone="").count()


@transaction.atomic
def open_roster(run: Run, who: str = "", why: str = "") -> None:
    """Let workers join again. No worker is accepted or rejected until it is closed.

    Raises Conflict if it is open, or if the algorithm works in rounds.
    """
    locked = lock_active_run(run)
    refuse_opening(locked)
    locked.enrolling, locked.enrol_until, locked.enrol_most = True, None, None
    locked.save(update_fields=["enrolling", "enrol_until", "enrol_most"])
    events.write_event(locked, OPENED, "The roster was opened.", who, why)


def refuse_opening(run: Run) -> None:
    """Raise Conflict if the roster cannot be opened."""
    refuse_over(run)
    if run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is open already.")
    if run.recorded_only:
        raise Conflict(f"The run “{run}” uses imported answers only; workers cannot join.")
    refuse_rounds(run, "join")


def close_due(now: datetime | None = None) -> list[int]:
    """Close the rosters that are due and have enough workers; return the ids of the runs."""
    due = Run.objects.running().filter(
        enrolling=True, enrol_until__lte=now or db_clock.database_now()
    )
    closed = []
    for run in due:
        with suppress(Refused):  # too few have joined, or it was closed just now
            closed.append(close_roster(run))
    return closed
