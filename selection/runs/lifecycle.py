"""The life of a run: start, pause, resume, stop, reopen, archive.

Each writes an Event: ``who`` is a login name or "token NAME", ``why`` the reason.
"""

from copy import copy
from typing import Any

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from selection import db_clock, wakeups
from selection.answers.outages import extend_deadlines
from selection.engine.ending import end_run
from selection.engine.precompile import precompile_run
from selection.errors import Conflict, Refused
from selection.history import events
from selection.model_workers import unreadable
from selection.models import Candidate, Run, Worker
from selection.runs.roster import eligibility, quotas, worker_prices
from selection.runs.settings import validation
from selection.texts import counted

Status = Run.Status


@transaction.atomic
def delete_run(run: Run) -> None:
    """Delete a run with its answers and verdicts. Raises Conflict while it goes on."""
    locked = Run.objects.lock(run.pk)
    if locked.status in {Status.RUNNING, Status.PAUSED}:
        raise Conflict(f"The run “{locked}” is {locked.status}: stop it before it is deleted.")
    locked.delete()


def start_run(run: Run, who: str = "", why: str = "") -> None:
    """Fix the roster and the deck, and let the run begin; workers may still join an open roster.

    Raises Conflict if it has begun, Refused if it cannot be run as it is.
    """
    _list_startable(copy(run))  # a copy: the run keeps no list of workers
    precompile_run(run)
    _start_locked(run, who, why)


@transaction.atomic
def _start_locked(run: Run, who: str, why: str) -> None:
    run = _change_status(run, Status.RUNNING, {Status.DRAFT})
    for name in ("quotas", "prices"):
        run.options.pop(name, None)
    workers = _list_startable(run)
    rng, run.started = np.random.default_rng(run.seed), db_clock.database_now()
    run.absence_since = run.started
    _fix_decks(run)
    arms = [rng.permutation(len(workers)) for _ in run.skills]
    if run.quotas:
        run.options["quotas"] = _quota_option(run, arms[0])
    if run.by_price:
        prices = worker_prices.list_prices(run, workers)
        run.options["prices"] = [prices[i] for i in np.argsort(arms[0])]
    run.save()
    for skill in run.skills:
        places = arms[skill.number] + skill.number * len(workers)
        rows = [
            Candidate(run=run, worker=worker, skill=skill.number, arm=arm)
            for worker, arm in zip(workers, places.tolist(), strict=True)
        ]
        eligibility.pass_over(run, rows)
        Candidate.objects.bulk_create(rows)
    roster = ", with an open roster" if run.enrolling else ""
    events.write_event(
        run,
        "start",
        f"Started with {counted(len(workers), 'worker')}{roster}.",
        who,
        why,
    )
    wakeups.request_step(run.pk)


def _list_startable(run: Run) -> list[Worker]:
    """Raise Refused if the run cannot be started."""
    workers = eligibility.fix_eligible(run)
    for refusal in validation.validate_stored_run(run, len(workers)).values():
        raise Refused(refusal)
    return workers


def _fix_decks(run: Run) -> None:
    """Renumber the skills without a gap, as arms are, and store their numbers of questions."""
    for number, skill in enumerate(run.skills):
        skill.number, skill.deck_size = number, skill.question_set.questions.count()
        if number:
            skill.save()
    run.deck_size = run.skills[0].deck_size


def _quota_option(run: Run, arms: NDArray[np.int64]) -> dict[str, Any]:
    """Fix the groups at the start: later changes of a worker's attributes do not matter."""
    values = quotas.attribute_values(eligibility.eligible_workers(run), run.quotas["attribute"])
    return quotas.build_quota_option(run.quotas, [values[i] for i in np.argsort(arms)])


@transaction.atomic
def pause_run(run: Run, who: str = "", why: str = "") -> None:
    """Stop dealing and counting until the run is resumed. Answers are still accepted."""
    run = _change_status(run, Status.PAUSED, {Status.RUNNING})
    run.paused = db_clock.database_now()
    run.save()
    events.write_event(run, "pause", "Paused.", who, why)


@transaction.atomic
def resume_run(run: Run, who: str = "", why: str = "") -> None:
    """Resume the run and extend open deadlines by the pause.

    Raises Conflict while a person has to decide on replies without an answer.
    """
    if keys := unreadable.list_asking(run):
        quotes = ", ".join(f"“{key}”" for key in keys)
        raise Conflict(
            f"Too many replies of {quotes} have no answer. Decide first: read the stored replies "
            "again by another rule, count them as wrong, or set the models aside."
        )
    run = _change_status(run, Status.RUNNING, {Status.PAUSED})
    extend_deadlines(run, run.paused or db_clock.database_now())
    run.paused = None
    run.save()
    events.write_event(run, "resume", "Resumed.", who, why)
    wakeups.request_step(run.pk)


@transaction.atomic
def stop_run(run: Run, who: str = "", why: str = "") -> None:
    """End the run by hand, with the guarantee reached so far."""
    run = _change_status(run, Status.ENDED, {Status.RUNNING, Status.PAUSED})
    end_run(run, Run.Ending.STOPPED)
    run.save()
    events.write_event(run, "stop", "Stopped by hand.", who, why)


@transaction.atomic
def reopen_run(run: Run, who: str = "", why: str = "") -> None:
    """Resume an ended run: its budget was raised, or a corrected gold answer broke its guarantee.

    In the second case the verdicts held for the earlier key only and are reset; this is valid only
    for algorithms whose bounds hold at all times. Raises Conflict for any other run.
    """
    locked = _change_status(run, Status.ENDED, {Status.ENDED})
    if refusal := _reopening_refusal(locked):
        raise Conflict(refusal)
    locked.status = Status.RUNNING
    if locked.regraded:
        locked.candidates.filter(gone="").update(
            verdict=Candidate.Verdicts.UNDECIDED, decided_in=None, decided_why=""
        )
    locked.regraded = None
    _go_on(locked, "The run goes on after its end.", who, why)


def _go_on(run: Run, sentence: str, who: str, why: str = "") -> None:
    extend_deadlines(run, run.ended or db_clock.database_now())
    run.ending, run.ended, run.archived = "", None, None
    run.save()
    events.write_event(run, "reopen", sentence, who, why)
    wakeups.request_step(run.pk)


def _reopening_refusal(run: Run) -> str:
    """Find the reason against reopening; empty if the run can go on."""
    rounds = not run.holds_at_all_times
    if run.fixed_budget or (run.regraded and rounds):
        title = run.selector_class.title
        return f"{title} had carried its plan out; it cannot go on after its end. Start a new run."
    if run.may_be_raised or run.reopens:
        spent = "Its budget is spent: raise it, and the run goes on."
        return "" if run.affords_more else spent
    return (
        "Only a run whose budget was spent, or that lost its guarantee by a correction after its "
        "end, can go on."
    )


@transaction.atomic
def archive_run(run: Run, who: str = "", why: str = "") -> None:
    """Mark an ended run as archived: there is nothing left to decide about it."""
    run = _change_status(run, Status.ENDED, {Status.ENDED})
    if run.archived:
        raise Conflict(f"The run “{run}” is archived already.")
    run.archived = db_clock.database_now()
    run.save(update_fields=["archived"])
    events.write_event(run, "archive", "Archived.", who, why)


@transaction.atomic
def unarchive_run(run: Run, who: str = "", why: str = "") -> None:
    """Undo ``archive_run``."""
    run = _change_status(run, Status.ENDED, {Status.ENDED})
    if not run.archived:
        raise Conflict(f"The run “{run}” is not archived.")
    run.archived = None
    run.save(update_fields=["archived"])
    events.write_event(run, "unarchive", "Taken up again, for review.", who, why)


def _change_status(run: Run, to: Run.Status, allowed: set[Run.Status]) -> Run:
    """Lock the run afresh and set its new status, unsaved."""
    locked = Run.objects.lock(run.pk)
    if locked.status not in allowed:
        states = " or ".join(sorted(allowed))
        raise Conflict(
            f"The run “{locked}” is {locked.status}; only a run that is {states} can do that."
        )
    locked.status = to
    return locked


# By the name of the move, as pages, the API and the command have it.
MOVES = {
    "start": start_run,
    "pause": pause_run,
    "resume": resume_run,
    "stop": stop_run,
    "reopen": reopen_run,
    "archive": archive_run,
    "unarchive": unarchive_run,
}
