"""The beginning of a watch of a run's selected workers."""

from selection.errors import Conflict
from selection.facts import Facts
from selection.models import Run
from selection.watches import begin

from .selection import selection_of_run


def offer_watch(run: Run) -> Facts:
    """Return the question sets of an ended run, and the level of each selected worker.

    levels  by worker, their accuracy in the run less ε

    Raises Conflict before the end of the run, and without selected workers.
    """
    if run.status != Run.Status.ENDED:
        raise Conflict(f"“{run}” has not ended: a watch begins with the workers that it selects.")
    arms = selection_of_run(run).arms.tolist()
    rows = run.candidates.filter(arm__in=arms).select_related("worker")
    sums: dict[str, tuple[float, int]] = {}
    for row in rows:
        right, answers = sums.get(row.worker.key, (0.0, 0))
        sums[row.worker.key] = (right + row.rewards, answers + row.pulls)
    if not sums:
        raise Conflict(f"“{run}” has no selected workers.")
    levels = {
        key: begin.round_level(right / answers - run.epsilon)
        for key, (right, answers) in sums.items()
        if answers
    }
    return Facts(question_sets=[skill.question_set for skill in run.skills], levels=levels)
