"""Who takes part in a run: joining, closing the roster, leaving, not coming, being withdrawn.

What each of it does to the promise is worked out in docs/absence.md.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count

import numpy as np
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from selection import wake
from selection.errors import Conflict, NotFound, Refused
from selection.models import Candidate, Run, Worker
from selection.models.roster import Counts, Roster
from topk import pack

from . import events, quotas

Gone = Candidate.Gone


# -- leaving


@transaction.atomic
def withdraw(run: Run, workers: Sequence[str], who: str = "", why: str = "") -> int:
    """Take these workers, by their keys, out of a run; returns how many.

    The run then chooses among the others. Raises Conflict for a run that is over, Refused for a
    worker who is not in it, is out already, or was accepted by an algorithm that works in rounds.
    """
    locked = _going(run)
    ids = {row.worker_id for row in to_withdraw(locked, workers)}
    _drop(locked, sorted(ids), Gone.WITHDRAWN)
    events.write(locked, "withdraw", f"Withdrawn: {', '.join(workers)}.", who, why)
    return len(ids)


def to_withdraw(run: Run, workers: Sequence[str]) -> list[Candidate]:
    """The candidates that these workers are; raises as ``withdraw`` does."""
    _refuse_over(run)
    rows = _of_keys(run, workers)
    for row in rows:
        if row.gone:
            raise Refused(f"“{row.worker}” is out of this run already: {row.get_gone_display()}.")
        if row.verdict == Candidate.Verdicts.ACCEPTED and not run.selector_class.open_roster:
            raise Refused(
                f"“{row.worker}” was accepted, and {run.selector_class.title} cannot give the "
                "place away again; reject the worker by hand instead."
            )
    return rows


@transaction.atomic
def leave(run: Run, worker: int) -> None:
    """The worker, by id, wants no more questions. Raises Conflict for a run that is over."""
    locked = _going(run)
    own = locked.candidates.filter(worker=worker, gone="")
    if own.exists():
        _drop(locked, [worker], Gone.LEFT)
        key = Worker.objects.get(pk=worker).key
        events.write(locked, "leave", f"“{key}” left.")


@transaction.atomic
def take_back(run: Run, workers: Sequence[str], who: str = "", why: str = "") -> int:
    """Let workers who are gone take part again; their answers count as before.

    Raises Conflict for a run that is over or whose algorithm works in rounds, Refused for a worker
    who is not in it or not gone.
    """
    locked = _going(run)
    ids = {row.worker_id for row in to_take_back(locked, workers)}
    now = timezone.now()
    locked.candidates.filter(worker__in=ids).update(gone="", gone_at=None, seen=now)
    _changed(locked, {})
    events.write(locked, "take back", f"Taken back: {', '.join(workers)}.", who, why)
    return len(ids)


def to_take_back(run: Run, workers: Sequence[str]) -> list[Candidate]:
    """The candidates that these workers are; raises as ``take_back`` does."""
    _refuse_over(run)
    _refuse_rounds(run, "come back to")
    rows = _of_keys(run, workers)
    for row in rows:
        if not row.gone:
            raise Refused(f"“{row.worker}” takes part in this run.")
    return rows


def sweep(now: datetime | None = None) -> list[int]:
    """Close rosters whose time has come; take the absent as gone; returns the runs changed."""
    now = now or timezone.now()
    due = Run.objects.running().filter(enrolling=True, enrol_until__lte=now)
    closed = [close_roster(run) for run in due if not too_few(run)]
    waiting = Run.objects.running().filter(enrolling=False, recorded_only=False)
    absent = [_sweep_absent(run.pk, now) for run in waiting.exclude(hours_to_come=None)]
    return [pk for pk in (*closed, *absent) if pk is not None]


@transaction.atomic
def _sweep_absent(pk: int, now: datetime) -> int | None:
    run = Run.objects.locked(pk)
    if run is None or run.status != Run.Status.RUNNING or run.hours_to_come is None:
        return None
    since = now - timedelta(hours=run.hours_to_come)
    silent = run.candidates.filter(
        Q(seen__lt=since) | Q(seen=None, run__called__lt=since),
        gone="",
        verdict=Candidate.Verdicts.UNDECIDED,
    )
    # Who is there in one skill is there in all; what is out and shown still has its time.
    there = run.candidates.filter(gone="", seen__gte=since).values("worker")
    holding = run.candidates.filter(assignments__answer=None, assignments__due__gt=now)
    rows = list(
        silent.exclude(worker__in=there)
        .exclude(worker__in=holding.values("worker"))
        .values_list("worker", "seen", "worker__key")
        .distinct()
    )
    for why, came in ((Gone.ABSENT, False), (Gone.LEFT, True)):
        own = {worker: key for worker, seen, key in rows if (seen is not None) == came}
        if own:
            _drop(run, sorted(own), why)
            events.write(run, "absent", f"{why.label.capitalize()}: {', '.join(own.values())}.")
    return pk if rows else None


def _drop(run: Run, workers: Sequence[int], why: Gone) -> None:
    """Take these workers out of a locked run."""
    before = _roster(run)
    own = run.candidates.filter(worker__in=workers)
    own.update(gone=why, gone_at=timezone.now())
    keep = np.isin(before.arms, _roster(run).arms)
    memory = run.memory
    _changed(run, pack(run.selector_class.remembered(memory, keep)) if memory else {})


def _roster(run: Run) -> Roster:
    rows = list(run.candidates.order_by("arm").values_list("skill", "gone", "pulls"))
    skill = np.array([row[0] for row in rows], np.int64)
    gone = np.array([bool(row[1]) for row in rows], bool)
    pulls: Counts = np.array([row[2] for row in rows], np.int64)
    return Roster.of(run, skill, gone, pulls)


def _changed(run: Run, memory: dict[str, object]) -> None:
    """The roster is another: what was proved was about the old one."""
    run.memory, run.proof = memory, {}
    run.save(update_fields=["memory", "proof"])
    wake.request(run.pk)


# -- joining


@transaction.atomic
def join(run: Run, worker: Worker) -> Candidate:
    """Put a worker of the run's pool on its open roster; the candidate in the first skill.

    One who is on it already is left as they are. Raises Conflict when the roster is closed.
    """
    locked = _going(run)
    there = locked.candidates.filter(worker=worker, skill=0).first()
    if there is not None:
        return there
    _add(locked, [worker])
    return locked.candidates.get(worker=worker, skill=0)


@transaction.atomic
def join_others(run: Run, who: str = "", why: str = "") -> int:
    """Let all others of the run's pool join; returns how many.

    A roster that is closed is opened for them and closed again. Raises Conflict or Refused where
    nobody can join.
    """
    locked = _going(run)
    others = list(others_of(locked))
    if not others:
        raise Refused(f"All workers of the pool “{locked.pool}” are in this run already.")
    closed = not locked.enrolling
    if closed:
        open_roster(locked, who, why)
        locked = _going(run)
    _add(locked, others)
    events.write(locked, "join", f"Joined from the pool: {len(others)} workers.", who, why)
    locked.refresh_from_db()
    if closed and locked.enrolling:
        close_roster(locked, who, why)
    return len(others)


def others_of(run: Run) -> QuerySet[Worker]:
    """The workers of the run's pool who are not in it."""
    return run.pool.workers.exclude(candidates__run=run).order_by("id")


def _add(run: Run, workers: Sequence[Worker]) -> None:
    """Put workers on the roster of a locked run, which closes if it is full by that."""
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; nobody can join it now.")
    for worker in workers:
        if worker.pool_id != run.pool_id:
            raise Refused(f"“{worker}” is not in the pool “{run.pool}” of this run.")
    last = run.candidates.aggregate(last=Max("arm"))["last"]
    arms = count(0 if last is None else last + 1)
    Candidate.objects.bulk_create(
        [
            Candidate(run=run, worker=worker, skill=skill.number, arm=next(arms))
            for worker in workers
            for skill in run.skills
        ]
    )
    if run.quotas:
        run.options["quotas"] = _quotas_with(run, workers)
    Run.objects.filter(pk=run.pk).update(joined=F("joined") + len(workers), options=run.options)
    _changed(run, {})
    if run.enrol_most and _size(run) >= run.enrol_most and not too_few(run):
        close_roster(run)


def _quotas_with(run: Run, workers: Sequence[Worker]) -> dict[str, object]:
    """The quotas' option with the groups of more workers."""
    option = run.options["quotas"]
    values = [option["names"][group] for group in option["groups"]]
    attribute = run.quotas["attribute"]
    values += [quotas.value_of(worker.attributes, attribute) for worker in workers]
    return quotas.option(run.quotas, values)


@transaction.atomic
def close_roster(run: Run, who: str = "", why: str = "") -> int:
    """From now on nobody joins, and the run may accept and reject; returns its id.

    Raises Conflict where it is not open, Refused while too few have joined to choose from.
    """
    locked = _going(run)
    if not locked.enrolling:
        raise Conflict(f"The roster of the run “{locked}” is closed already.")
    if refusal := too_few(locked):
        raise Refused(refusal)
    locked.enrolling, locked.called = False, timezone.now()
    locked.save(update_fields=["enrolling", "called"])
    events.write(
        locked, "close roster", f"The roster closed with {_size(locked)} workers.", who, why
    )
    wake.request(locked.pk)
    return int(locked.pk)


def too_few(run: Run) -> str:
    """Why the roster cannot be closed yet, in a sentence; empty if it can."""
    size, wanted = _size(run), max(skill.k for skill in run.skills)
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
            quotas.check(run.quotas, values, run.k)
        except Refused as refusal:
            return f"{refusal} The roster stays open until the quotas can be kept."
    return ""


def _size(run: Run) -> int:
    return run.candidates.filter(skill=0, gone="").count()


@transaction.atomic
def open_roster(run: Run, who: str = "", why: str = "") -> None:
    """Let workers join again. Until it is closed nobody is accepted or rejected.

    Raises Conflict where it is open, or where the algorithm works in rounds.
    """
    locked = _going(run)
    refuse_opening(locked)
    locked.enrolling, locked.enrol_until, locked.enrol_most = True, None, None
    locked.save(update_fields=["enrolling", "enrol_until", "enrol_most"])
    events.write(locked, "open roster", "The roster was opened.", who, why)


def refuse_opening(run: Run) -> None:
    """Raise Conflict where the roster cannot be opened."""
    _refuse_over(run)
    if run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is open already.")
    if run.recorded_only:
        raise Conflict(f"The run “{run}” asks nobody, so nobody can join it.")
    _refuse_rounds(run, "join")


def _refuse_rounds(run: Run, verb: str) -> None:
    if not run.selector_class.open_roster:
        raise Conflict(
            f"{run.selector_class.title} plans for the workers who were there at the start: nobody "
            f"can {verb} it while it runs."
        )


# -- what all of it needs


def _going(run: Run) -> Run:
    """The run, locked and fresh, while it goes on or is paused."""
    locked = Run.objects.locked(run.pk)
    if locked is None:
        raise NotFound("This run does not exist any more.")
    _refuse_over(locked)
    return locked


def _refuse_over(run: Run) -> None:
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        raise Conflict(f"The run “{run}” is {run.status}; its roster cannot change now.")


def _of_keys(run: Run, workers: Sequence[str]) -> list[Candidate]:
    rows = list(run.candidates.filter(worker__key__in=workers).select_related("worker"))
    known = {row.worker.key for row in rows}
    for key in workers:
        if key not in known:
            raise Refused(f"There is no worker “{key}” in this run.")
    return rows
