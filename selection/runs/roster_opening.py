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
from topk.roster import OPENED

from . import eligibility, quotas
from .roster import lock_active_run, mark_roster_changed, refuse_over, refuse_rounds


@transaction.atomic
def join_roster(run: Run, worker: Worker) -> Candidate:
    """Put a worker of the run's pool on its open roster; the candidate in the first skill.

    One who is on it already is left as they are. Raises Conflict when the roster is closed.
    """
    locked = lock_active_run(run)
    there = locked.candidates.filter(worker=worker, skill=0).first()
    if there is not None:
        return there
    _add_workers(locked, [worker])
    return locked.candidates.get(worker=worker, skill=0)


@transaction.atomic
def join_others(run: Run, who: str = "", why: str = "") -> int:
    """Let all others of the run's pool join; returns how many.

    A roster that is closed is opened for them and closed again. Raises Conflict or Refused where
    nobody can join.
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
    events.write_event(locked, "join", f"Joined from the pool: {len(others)} workers.", who, why)
    locked.refresh_from_db()
    if closed and locked.enrolling:
        close_roster(locked, who, why)
    return len(others)


def workers_not_in_run(run: Run) -> QuerySet[Worker]:
    """The workers of the run's pool who are not in it."""
    return eligibility.eligible_workers(run).exclude(candidates__run=run)


def _add_workers(run: Run, workers: Sequence[Worker]) -> None:
    """Put workers on the roster of a locked run, which closes if it is full by that."""
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; nobody can join it now.")
    for worker in workers:
        if worker.pool_id != run.pool_id:
            raise Refused(f"“{worker}” is not in the pool “{run.pool}” of this run.")
        if why := eligibility.explain_ineligible(run, worker):
            raise Conflict(why)
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
    Run.objects.filter(pk=run.pk).update(joined=F("joined") + len(workers), options=run.options)
    mark_roster_changed(run)
    if run.enrol_most and _roster_size(run) >= run.enrol_most and not too_few(run):
        close_roster(run)


def _quotas_with(run: Run, workers: Sequence[Worker]) -> dict[str, object]:
    """The quotas' option with the groups of more workers."""
    option = run.options["quotas"]
    values = [option["names"][group] for group in option["groups"]]
    attribute = run.quotas["attribute"]
    values += [quotas.value_of(worker.attributes, attribute) for worker in workers]
    return quotas.build_quota_option(run.quotas, values)


@transaction.atomic
def close_roster(run: Run, who: str = "", why: str = "") -> int:
    """From now on nobody joins, and the run may accept and reject; returns its id.

    Raises Conflict where it is not open, Refused while too few have joined to choose from.
    """
    locked = lock_active_run(run)
    if not locked.enrolling:
        raise Conflict(f"The roster of the run “{locked}” is closed already.")
    if refusal := too_few(locked):
        raise Refused(refusal)
    locked.enrolling, locked.called = False, db_clock.database_now()
    locked.save(update_fields=["enrolling", "called"])
    events.write_event(
        locked, "close roster", f"The roster closed with {_roster_size(locked)} workers.", who, why
    )
    wakeups.request_step(locked.pk)
    return int(locked.pk)


def too_few(run: Run) -> str:
    """Why the roster cannot be closed yet, in a sentence; empty if it can."""
    size, wanted = _roster_size(run), max(skill.k for skill in run.skills)
    if run.several and run.one_kind_each:
        wanted = max(wanted, run.total - 1)
    if size <= wanted:
        have = "1 worker has" if size == 1 else f"{size or 'No'} workers have"
        return (
            f"{have} joined; more than {wanted} are needed before the roster can be closed, or "
            "there would be nothing to choose."
        )
    if run.quotas:
        rows = run.candidates.filter(gone="").values_list("worker__attributes", flat=True)
        values = [quotas.value_of(row, run.quotas["attribute"]) for row in rows]
        try:
            quotas.check_quotas(run.quotas, values, run.k)
        except Refused as refusal:
            return f"{refusal} The roster stays open until the quotas can be kept."
    return ""


def _roster_size(run: Run) -> int:
    return run.candidates.filter(skill=0, gone="").count()


@transaction.atomic
def open_roster(run: Run, who: str = "", why: str = "") -> None:
    """Let workers join again. Until it is closed nobody is accepted or rejected.

    Raises Conflict where it is open, or where the algorithm works in rounds.
    """
    locked = lock_active_run(run)
    refuse_opening(locked)
    locked.enrolling, locked.enrol_until, locked.enrol_most = True, None, None
    locked.save(update_fields=["enrolling", "enrol_until", "enrol_most"])
    events.write_event(locked, OPENED, "The roster was opened.", who, why)


def refuse_opening(run: Run) -> None:
    """Raise Conflict where the roster cannot be opened."""
    refuse_over(run)
    if run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is open already.")
    if run.recorded_only:
        raise Conflict(f"The run “{run}” asks nobody, so nobody can join it.")
    refuse_rounds(run, "join")


def close_due(now: datetime | None = None) -> list[int]:
    """Close the rosters whose time has come and that have enough; returns the runs."""
    due = Run.objects.running().filter(
        enrolling=True, enrol_until__lte=now or db_clock.database_now()
    )
    closed = []
    for run in due:
        with suppress(Refused):  # too few have come, or somebody has closed it in this moment
            closed.append(close_roster(run))
    return closed
