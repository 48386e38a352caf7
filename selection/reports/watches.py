"""The beginning of a watch: the workers, their levels and the question sets."""

from collections.abc import Collection

from selection.errors import Conflict, Refused
from selection.facts import Facts
from selection.models import Pool, QuestionSet, Run
from selection.watches import begin

from .selection import selection_of_run


def plan_watch(
    run: Run | None,
    pool: Pool | None,
    sets: Collection[QuestionSet],
    levels: begin.Levels,
    level: float | None,
) -> Facts:
    """Complete what a requester has chosen: pool, question sets, and levels by worker.

    levels  of chosen workers; empty: the selected workers of the run, or all of the pool
    level   of the watch; None: each worker has their own

    Raises Refused without a run or a pool, and Conflict before the end of the run.
    """
    if run is None and pool is None:
        raise Refused("Choose a run or a pool: the workers come from one of them.")
    if run is None:
        assert pool is not None
        keys = pool.workers.values_list("key", flat=True)
        return Facts(pool=pool, question_sets=sets, levels=levels or dict.fromkeys(keys))
    offer = begin.choose_levels(_shown_levels(run), level)
    own = {key: offer.get(key) if chosen is None else chosen for key, chosen in levels.items()}
    sets = sets or [skill.question_set for skill in run.skills]
    return Facts(pool=run.pool, question_sets=sets, levels=own or offer)


def _shown_levels(run: Run) -> dict[str, float]:
    """Compute each selected worker's level: the run's pass mark, or their accuracy less ε."""
    if run.status != Run.Status.ENDED:
        raise Conflict(f"“{run}” has not ended: a watch begins with the workers that it selects.")
    arms = selection_of_run(run).arms.tolist()
    rows = run.candidates.filter(arm__in=arms).select_related("worker")
    sums: dict[str, tuple[float, int]] = {}
    for row in rows:
        total, answers = sums.get(row.worker.key, (0.0, 0))
        sums[row.worker.key] = (total + row.rewards, answers + row.pulls)
    if not sums:
        raise Conflict(f"“{run}” has no selected workers.")
    if run.pass_mark is not None:
        return dict.fromkeys(sums, begin.round_level(run.pass_mark))
    return {
        key: begin.round_level(total / answers - run.epsilon)
        for key, (total, answers) in sums.items()
        if answers
    }
