"""Effect of roster changes on a run's guarantee, described before they are made.

Each function raises Conflict or Refused, with the reason, if the change is impossible.
"""

from collections.abc import Sequence

from selection.errors import Conflict, Refused
from selection.models import Candidate, Run
from selection.texts import counted

from . import membership, roster_opening

LOST = " It then has no guarantee, because the roster may depend on counted answers."
LOST_BECAUSE = "because the roster may depend on earlier answers."
REGAINED = " The guarantee returns when all workers with counted answers take part again."
RECALCULATED = " The guarantee covered the old roster, and is recalculated."


def preview_withdrawal(run: Run, workers: Sequence[str], for_good: bool = False) -> str:
    """Describe the effect; ``for_good`` if the workers cannot be taken back."""
    rows = membership.find_withdrawable(run, workers)
    withdrawn = {row.worker_id for row in rows}
    answered = {row.worker_id for row in rows if row.pulls}
    remaining = _count_present(run) - len(withdrawn)
    names = _join_names(workers)
    text = f"{names} get{'s' if len(workers) == 1 else ''} no more questions, and "
    text += f"{'is' if len(workers) == 1 else 'are'} neither accepted nor rejected."
    if remaining <= run.k and not run.enrolling:
        return (
            f"{text} Only {counted(remaining, 'worker', 'are')} then left, and the run "
            "needs all of them. It "
            "ends at once, with no guarantee."
        )
    text += f" The run chooses the best {run.k} of the other {remaining}"
    if answered and not run.covers_withdrawal:
        return f"{text}.{LOST}{'' if for_good else REGAINED}"
    text += ", and guarantees the result for them."
    if answered:
        text += (
            " A share of the risk δ covers the workers who answered and left, whatever their "
            "reason. This may cost a few more answers."
        )
    return text + RECALCULATED


def take_back(run: Run, workers: Sequence[str]) -> str:
    rows = membership.find_restorable(run, workers)
    returning = {row.worker_id for row in rows}
    present = _count_present(run) + len(returning)
    text = (
        f"{_join_names(workers)} take{'s' if len(workers) == 1 else ''} part again, and "
        "earlier answers count."
    )
    absent = run.candidates.exclude(gone="").exclude(worker__in=returning).filter(pulls__gt=0)
    if not run.covers_withdrawal and absent.exists():
        return f"{text} The run has no guarantee while other workers with counted answers are out."
    return f"{text} The guarantee then covers {counted(present, 'worker')}.{RECALCULATED}"


def open_roster(run: Run) -> str:
    roster_opening.refuse_opening(run)
    text = (
        f"Workers may join the {_count_present(run)} in the run, with its join link or by the "
        "API. No worker is accepted or rejected until the roster is closed; "
    )
    if _loses_by_joining(run):
        return f"{text}when a worker joins, the run has no guarantee, {LOST_BECAUSE}"
    return f"{text}the guarantee then covers all workers on it."


def close_roster(run: Run) -> str:
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed already.")
    if refusal := roster_opening.too_few(run):
        raise Refused(refusal)
    start = "" if run.selector_class.open_roster else " The run then assigns the first questions."
    return (
        f"No more workers can join. The guarantee covers the {_count_present(run)} on the roster. "
        f"From then on the run may accept, reject and end.{start}"
    )


def join_others(run: Run) -> str:
    count = roster_opening.workers_not_in_run(run).count()
    if not count:
        raise Refused(f"All workers of the pool “{run.pool}” are in this run already.")
    if not run.enrolling:
        roster_opening.refuse_opening(run)
    workers = counted(count, "worker", "join")
    reopening = "" if run.enrolling else " The roster opens for this and closes again."
    if not run.enrolling and _loses_by_joining(run):
        text = f"{workers} the {_count_present(run)} in the run.{reopening}"
        return f"{text} It then has no guarantee, {LOST_BECAUSE}"
    return (
        f"{workers} the {_count_present(run)} in the run; the guarantee then covers "
        f"{_count_present(run) + count}.{reopening}{RECALCULATED}"
    )


def _loses_by_joining(run: Run) -> bool:
    return run.selector_class.roster_fixed and run.steps > 0


def _count_present(run: Run) -> int:
    return Candidate.objects.filter(run=run, skill=0, gone="").count()


def _join_names(workers: Sequence[str]) -> str:
    return ", ".join(f"“{key}”" for key in workers)
