"""Effect of roster changes on a run's guarantee, described before they are made.

Each function raises Conflict or Refused, with the reason, if the change is impossible.
"""

from collections.abc import Sequence

from selection.errors import Conflict, Refused
from selection.models import Candidate, Run

from . import roster, roster_opening

LOST = " It then has no guarantee, because who is in it may depend on the answers that counted."
LOST_BECAUSE = "because who is in it may depend on the answers that counted before."
REGAINED = " The guarantee returns once everybody whose answers counted takes part again."
PROVED_ANEW = " What was proved so far was about those who were in it before, and is proved anew."


def preview_withdrawal(run: Run, workers: Sequence[str]) -> str:
    rows = roster.find_withdrawable(run, workers)
    withdrawn = {row.worker_id for row in rows}
    answered = {row.worker_id for row in rows if row.pulls}
    remaining = _count_present(run) - len(withdrawn)
    names = _join_names(workers)
    text = f"{names} get{'s' if len(workers) == 1 else ''} no more questions, and "
    text += f"{'is' if len(workers) == 1 else 'are'} neither accepted nor rejected."
    if remaining <= run.k and not run.enrolling:
        return (
            f"{text} Only {remaining} workers are left then, no more than are wanted: the run ends "
            "at once, and nothing is promised of them."
        )
    text += f" The run chooses the best {run.k} of the other {remaining}"
    if answered and not run.covers_withdrawal:
        return f"{text}.{LOST}{REGAINED}"
    text += ", and promises about those."
    if answered:
        text += (
            " A share of the risk δ stays with those who gave answers and are gone, so that the "
            "promise holds whatever the reason; that may cost a few more answers."
        )
    return text + PROVED_ANEW


def take_back(run: Run, workers: Sequence[str]) -> str:
    rows = roster.find_restorable(run, workers)
    returning = {row.worker_id for row in rows}
    present = _count_present(run) + len(returning)
    text = (
        f"{_join_names(workers)} take{'s' if len(workers) == 1 else ''} part again, and the "
        "answers given before count as they did."
    )
    absent = run.candidates.exclude(gone="").exclude(worker__in=returning).filter(pulls__gt=0)
    if not run.covers_withdrawal and absent.exists():
        return f"{text} The run has no guarantee while others whose answers counted are out of it."
    return f"{text} The promise is then about {present} workers.{PROVED_ANEW}"


def open_roster(run: Run) -> str:
    roster_opening.refuse_opening(run)
    text = (
        f"Workers may join the {_count_present(run)} who are in the run, with its join link or by "
        "the API. Until the roster is closed nobody is accepted or rejected; "
    )
    if _loses_by_joining(run):
        return f"{text}once anybody has joined, the run has no guarantee, {LOST_BECAUSE}"
    return f"{text}the promise is then about all who are on it."


def close_roster(run: Run) -> str:
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed already.")
    if refusal := roster_opening.too_few(run):
        raise Refused(refusal)
    begins = "" if run.selector_class.open_roster else " The first questions go out then."
    return (
        f"Nobody joins after the {_count_present(run)} who are on the roster: they are whom the "
        f"promise is about. The run may accept, reject and end from then on.{begins}"
    )


def join_others(run: Run) -> str:
    count = roster_opening.workers_not_in_run(run).count()
    if not count:
        raise Refused(f"All workers of the pool “{run.pool}” are in this run already.")
    if not run.enrolling:
        roster_opening.refuse_opening(run)
    workers = "1 worker joins" if count == 1 else f"{count} workers join"
    reopening = "" if run.enrolling else " The roster is opened for that and closed again."
    if not run.enrolling and _loses_by_joining(run):
        text = f"{workers} the {_count_present(run)} who are in the run.{reopening}"
        return f"{text} It then has no guarantee, {LOST_BECAUSE}"
    return (
        f"{workers} the {_count_present(run)} who are in the run, so that the promise is about "
        f"{_count_present(run) + count}.{reopening}{PROVED_ANEW}"
    )


def _loses_by_joining(run: Run) -> bool:
    return run.selector_class.roster_fixed and run.steps > 0


def _count_present(run: Run) -> int:
    return Candidate.objects.filter(run=run, skill=0, gone="").count()


def _join_names(workers: Sequence[str]) -> str:
    return ", ".join(f"“{key}”" for key in workers)
