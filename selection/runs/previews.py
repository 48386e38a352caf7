"""What changing a run's roster would do to its promise, said before it is done.

Each raises Conflict or Refused, with the reason, where it cannot be done.
"""

from collections.abc import Sequence

from selection.errors import Conflict, Refused
from selection.models import Candidate, Run

from . import roster, roster_opening

LOSES = " It then has no guarantee, because who is in it may depend on the answers that counted."
SEEN = "because who is in it may depend on the answers that counted before."
RETURNS = " The guarantee returns once everybody whose answers counted takes part again."
ANEW = " What was proved so far was about those who were in it before, and is proved anew."


def preview_withdrawal(run: Run, workers: Sequence[str]) -> str:
    rows = roster.find_withdrawable(run, workers)
    out = {row.worker_id for row in rows}
    answered = {row.worker_id for row in rows if row.pulls}
    left = _count_present(run) - len(out)
    who = _join_names(workers)
    said = f"{who} get{'s' if len(workers) == 1 else ''} no more questions, and "
    said += f"{'is' if len(workers) == 1 else 'are'} neither accepted nor rejected."
    if left <= run.k and not run.enrolling:
        return (
            f"{said} Only {left} workers are left then, no more than are wanted: the run ends at "
            "once, and nothing is promised of them."
        )
    said += f" The run chooses the best {run.k} of the other {left}"
    if answered and run.selector_class.roster_fixed:
        return f"{said}.{LOSES}{RETURNS}"
    said += ", and promises about those."
    if answered:
        said += (
            " A share of the risk δ stays with those who gave answers and are gone, so that the "
            "promise holds whatever the reason; that may cost a few more answers."
        )
    return said + ANEW


def take_back(run: Run, workers: Sequence[str]) -> str:
    rows = roster.find_restorable(run, workers)
    back = {row.worker_id for row in rows}
    here = _count_present(run) + len(back)
    said = (
        f"{_join_names(workers)} take{'s' if len(workers) == 1 else ''} part again, and the answers "
        "given before count as they did."
    )
    out = run.candidates.exclude(gone="").exclude(worker__in=back).filter(pulls__gt=0)
    if run.selector_class.roster_fixed and out.exists():
        return f"{said} The run has no guarantee while others whose answers counted are out of it."
    return f"{said} The promise is then about {here} workers.{ANEW}"


def open_roster(run: Run) -> str:
    roster_opening.refuse_opening(run)
    said = (
        f"Workers may join the {_count_present(run)} who are in the run, with its join link or by the API. "
        "Until the roster is closed nobody is accepted or rejected; "
    )
    if _loses_by_joining(run):
        return f"{said}once anybody has joined, the run has no guarantee, {SEEN}"
    return f"{said}the promise is then about all who are on it."


def close_roster(run: Run) -> str:
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed already.")
    if refusal := roster_opening.too_few(run):
        raise Refused(refusal)
    begins = "" if run.selector_class.open_roster else " The first questions go out then."
    return (
        f"Nobody joins after the {_count_present(run)} who are on the roster: they are whom the promise is "
        f"about. The run may accept, reject and end from then on.{begins}"
    )


def join_others(run: Run) -> str:
    others = roster_opening.workers_not_in_run(run).count()
    if not others:
        raise Refused(f"All workers of the pool “{run.pool}” are in this run already.")
    if not run.enrolling:
        roster_opening.refuse_opening(run)
    workers = "1 worker joins" if others == 1 else f"{others} workers join"
    again = "" if run.enrolling else " The roster is opened for that and closed again."
    if not run.enrolling and _loses_by_joining(run):
        said = f"{workers} the {_count_present(run)} who are in the run.{again}"
        return f"{said} It then has no guarantee, {SEEN}"
    return (
        f"{workers} the {_count_present(run)} who are in the run, so that the promise is about "
        f"{_count_present(run) + others}.{again}{ANEW}"
    )


def _loses_by_joining(run: Run) -> bool:
    return run.selector_class.roster_fixed and run.steps > 0


def _count_present(run: Run) -> int:
    return Candidate.objects.filter(run=run, skill=0, gone="").count()


def _join_names(workers: Sequence[str]) -> str:
    return ", ".join(f"“{key}”" for key in workers)
