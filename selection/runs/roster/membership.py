"""The roster of a run: withdrawing, leaving, no-shows, taking back.

The effect of each on the guarantee is worked out in absence.md of topk.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from selection import db_clock, wakeups
from selection.engine.rejudge import rejudge
from selection.errors import Conflict, Refused
from selection.history import events
from selection.model_workers import dispatcher
from selection.models import Candidate, Heartbeat, Run, Worker, plain_key
from selection.models.answers import has_waiting_answers

Gone = Candidate.Gone


# -- leaving


@transaction.atomic
def withdraw_workers(run: Run, workers: Sequence[str], who: str = "", why: str = "") -> int:
    """Withdraw these workers, by their keys, from a run; return their number.

    The run then chooses among the others. Raises Conflict for a run that is over, Refused for a
    worker that is not in it, is out already, or was accepted by an algorithm that works in rounds.
    """
    locked = lock_active_run(run)
    ids = {row.worker_id for row in find_withdrawable(locked, workers)}
    drop_workers(locked, sorted(ids), Gone.WITHDRAWN)
    events.write_event(locked, "withdraw", f"Withdrawn: {', '.join(workers)}.", who, why)
    return len(ids)


def find_withdrawable(run: Run, workers: Sequence[str]) -> list[Candidate]:
    """Find the candidates of these workers; raises as ``withdraw_workers`` does."""
    refuse_over(run)
    rows = _candidates_of_keys(run, workers)
    for row in rows:
        if row.gone:
            raise Refused(f"“{row.worker}” has already left this run: {row.get_gone_display()}.")
        if row.verdict == Candidate.Verdicts.ACCEPTED and not run.selector_class.open_roster:
            raise Refused(
                f"“{row.worker}” was accepted, and {run.selector_class.title} cannot give the "
                "place to another worker; reject the worker by hand instead."
            )
    return rows


@transaction.atomic
def record_leaving(run: Run, worker: int) -> None:
    """Record that the worker, by id, left. Raises Conflict if the run is over."""
    _record_gone(run, worker, Gone.LEFT, "leave", "left")


@transaction.atomic
def record_failed_screening(run: Run, worker: int) -> None:
    """Record that the worker, by id, failed the screening. Raises Conflict if the run is over."""
    _record_gone(run, worker, Gone.SCREENED, "screened", "did not pass the practice")


def _record_gone(run: Run, worker: int, reason: Gone, kind: str, verb: str) -> None:
    locked = lock_active_run(run)
    if locked.candidates.filter(worker=worker, gone="").exists():
        drop_workers(locked, [worker], reason)
        key = Worker.objects.get(pk=worker).key
        events.write_event(locked, kind, f"“{key}” {verb}.")


@transaction.atomic
def take_back(run: Run, workers: Sequence[str], who: str = "", why: str = "") -> int:
    """Let workers that left take part again; their answers count as before. Return their number.

    Raises Conflict for a run that is over or has an algorithm that works in rounds, Refused for a
    worker that is not in it or has not left.
    """
    locked = lock_active_run(run)
    ids = {row.worker_id for row in find_restorable(locked, workers)}
    now = db_clock.database_now()
    locked.candidates.filter(worker__in=ids).update(gone="", gone_at=None, seen=now)
    dispatcher.clear_problems(ids)  # a model that was set aside is tried again
    _judge_roster(locked)
    events.write_event(locked, "take back", f"Taken back: {', '.join(workers)}.", who, why)
    return len(ids)


def answered_leavers(run: Run) -> list[str]:
    """List the ids of the workers gone after counted answers that may return."""
    rows = run.candidates.exclude(gone="").filter(pulls__gt=0, worker__erased=None)
    return list(rows.order_by("worker__key").values_list("worker__key", flat=True).distinct())


def take_back_answered(run: Run, who: str = "", why: str = "") -> int:
    return take_back(run, answered_leavers(run), who, why)


def find_restorable(run: Run, workers: Sequence[str]) -> list[Candidate]:
    """Find the candidates of these workers; raises as ``take_back`` does."""
    refuse_over(run)
    if not run.holds_at_all_times:
        refuse_rounds(run, "come back to")
    rows = _candidates_of_keys(run, workers)
    for row in rows:
        if not row.gone:
            raise Refused(f"“{row.worker}” takes part in this run.")
        if row.worker.erased:
            raise Refused(f"“{row.worker}” was erased and cannot take part again.")
    return rows


def sweep_absent(now: datetime | None = None) -> list[int]:
    """Mark workers that did not come in time as gone; return the ids of the changed runs."""
    waiting = Run.objects.running().filter(enrolling=False, recorded_only=False)
    absent = [_sweep_absent(run.pk, now) for run in waiting.exclude(hours_to_come=None)]
    return [pk for pk in absent if pk is not None]


@transaction.atomic
def _sweep_absent(pk: int, now: datetime | None) -> int | None:
    run = Run.objects.locked(pk, wait=False)
    if run is None or run.status != Run.Status.RUNNING or run.hours_to_come is None:
        return None
    now = Heartbeat.objects.time_taken(now or db_clock.database_now())
    silent = silent_candidates(run, run.hours_to_come, now)
    rows = list(silent.values_list("worker", "seen", "worker__key").distinct())
    for reason, active in ((Gone.ABSENT, False), (Gone.LEFT, True)):
        workers = {worker: key for worker, visit, key in rows if (visit is not None) == active}
        if workers:
            drop_workers(run, sorted(workers), reason)
            events.write_event(
                run, "absent", f"{reason.label.capitalize()}: {', '.join(workers.values())}."
            )
    return pk if rows else None


def silent_candidates(run: Run, hours: float, now: datetime) -> QuerySet[Candidate]:
    """Find the undecided candidates of workers that were silent for so many hours.

    now  until when workers were able to answer, see ``Heartbeat.objects.time_taken``
    """
    since = now - timedelta(hours=hours)
    silent = run.candidates.filter(
        Q(seen__lt=since) | Q(seen=None, run__absence_since__lt=since),
        gone="",
        verdict=Candidate.Verdicts.UNDECIDED,
    )
    # A worker present in one skill is present in all; shown questions still have their time.
    present = run.candidates.filter(gone="", seen__gte=since).values("worker")
    holding = run.candidates.filter(assignments__answer=None, assignments__due__gt=now)
    return (
        silent.exclude(worker__in=present)
        .exclude(has_waiting_answers(run))
        .exclude(worker__in=holding.values("worker"))
    )


def drop_workers(run: Run, workers: Sequence[int], reason: Gone) -> None:
    """Take these workers out of a locked run."""
    candidates = run.candidates.filter(worker__in=workers)
    candidates.update(gone=reason, gone_at=db_clock.database_now())
    _judge_roster(run)


def _judge_roster(run: Run) -> None:
    """Let a locked run judge the rest.

    Rounds are played again: their length depends on the number of workers, and a worker rejected in
    favour of a leaver may be among the best now (absence.md of topk).
    """
    if run.selector_class.open_roster:
        mark_roster_changed(run)
    else:
        rejudge(run)
        wakeups.request_step(run.pk)


def mark_roster_changed(run: Run) -> None:
    """Reset the run's bounds: they were about the previous roster."""
    run.memory, run.best_guarantee = {}, {}
    run.save(update_fields=["memory", "best_guarantee"])
    wakeups.request_step(run.pk)


def refuse_rounds(run: Run, verb: str) -> None:
    if not run.selector_class.open_roster:
        raise Conflict(
            f"{run.selector_class.title} plans with all workers from the start: a worker cannot "
            f"{verb} it while it runs."
        )


# -- shared checks


def lock_active_run(run: Run) -> Run:
    """Lock the run afresh if it goes on or is paused. Raises Conflict otherwise."""
    locked = Run.objects.lock(run.pk)
    refuse_over(locked)
    return locked


def refuse_over(run: Run) -> None:
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        raise Conflict(f"The run “{run}” is {run.status}; its roster cannot change now.")


def _candidates_of_keys(run: Run, workers: Sequence[str]) -> list[Candidate]:
    candidates = run.candidates.filter(worker__key__in=workers)
    rows = list(candidates.select_related("worker"))
    keys = {row.worker.key for row in rows}
    for key in workers:
        if plain_key(key) not in keys:
            raise Refused(f"There is no worker “{key}” in this run.")
    return rows
