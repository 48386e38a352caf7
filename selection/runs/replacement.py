"""Replacement of selected workers after the end of a run: the next best take their places.

An algorithm whose bounds hold at all times judges the other workers again, by all answers so far,
and the run may go on until its guarantee holds. The claim about the others is a second one: it has
a δ of its own. Other algorithms keep their verdicts, and the places are filled by hand.
"""

from collections.abc import Collection, Sequence

from django.db import transaction

from selection import db_clock
from selection.engine.rejudge import rejudge
from selection.errors import Conflict, Refused
from selection.history import events
from selection.models import Candidate, Run, plain_key
from selection.texts import counted

from . import manual_verdicts
from .settings import drafts

Gone, Verdicts = Candidate.Gone, Candidate.Verdicts


def judges_others(run: Run) -> bool:
    """Return True if the algorithm itself names the next best."""
    return run.holds_at_all_times and not run.fixed_budget


@transaction.atomic
def replace_workers(
    run: Run, workers: Sequence[str], successors: Sequence[str], who: str = "", why: str = ""
) -> None:
    """Give the places of these selected workers to the next best.

    successors  who takes the places by hand, if the algorithm cannot judge the others

    Raises Conflict before the end of the run, Refused for workers that cannot be replaced.
    """
    locked = Run.objects.lock(run.pk)
    rows = find_replaceable(locked, workers)
    if judges_others(locked):
        pks = [row.worker_id for row in rows]
        leaving = locked.candidates.filter(worker__in=pks)
        leaving.update(gone=Gone.WITHDRAWN, gone_at=db_clock.database_now())
        rejudge(locked)
    else:
        reason = why.strip() or "replaced after the end"
        for row in rows:
            manual_verdicts.override_verdict(row, Verdicts.REJECTED, who, reason)
        for row in _candidates(locked, successors):
            manual_verdicts.override_verdict(row, Verdicts.ACCEPTED, who, reason)
    named = ", ".join(f"“{key}”" for key in workers)
    events.write_event(locked, Run.REPLACED, f"Replaced after the end: {named}.", who, why)


def find_replaceable(run: Run, workers: Sequence[str]) -> list[Candidate]:
    """Return the candidates of these workers; raises as ``replace_workers`` does."""
    if run.status != Run.Status.ENDED:
        raise Conflict(f"“{run}” has not ended: withdraw workers on its page instead.")
    if run.several:
        raise Refused(f"“{run}” selects for several question sets: give verdicts by hand instead.")
    if not workers:
        raise Refused("Choose at least one selected worker to replace.")
    rows = _candidates(run, workers)
    if gone := [row for row in rows if row.gone]:
        raise Refused(f"“{gone[0].worker}” has already left this run.")
    left = run.candidates.filter(gone="").count() - len(rows)
    if left <= run.k:
        others = counted(left, "other worker")
        raise Refused(f"Only {others} took part: a choice of {run.k} needs more than {run.k}.")
    return rows


def _candidates(run: Run, workers: Collection[str]) -> list[Candidate]:
    by_key = {
        row.worker.key: row
        for row in run.candidates.filter(skill=0).select_related("worker", "run")
    }
    if missing := [key for key in workers if plain_key(key) not in by_key]:
        raise Refused(f"There is no worker “{missing[0]}” in this run.")
    return [by_key[plain_key(key)] for key in workers]


def draft_replacement(
    run: Run, workers: Sequence[str], others: Sequence[str], who: str = "", why: str = ""
) -> Run:
    """Return a draft that tests the others anew, for as many places as these workers leave.

    others  the workers that took part and are not selected

    Answers of the ended run do not count in it: whom it tests depends on them.
    """
    rows = find_replaceable(run, workers)
    changes = {"k": len(rows), "only": list(others), "left_out": [], "quotas": {}}
    name = drafts.free_name(f"{run.name[:170]}, replacement", run.team_id, sign=" {}")
    return drafts.copy_run(run, name, who=who, why=why, changes=changes | {"enrolling": False})
