"""The best guarantee so far: a bound that holds at all times stays proved."""

from selection.models import Run
from selection.models.roster import Roster
from topk import Goal, Selector, Standing


def remember_guarantee(run: Run, selector: Selector, standing: Standing, roster: Roster) -> None:
    """Store the least ε proved so far, and the arms that it was proved for.

    Excluded are guarantees of a pass mark, which have no other ε, guarantees on average, because
    an expectation changes with every answer, and guarantees at the stop only, because these do not
    cover the best of many looks. Code that changes the roster or a counted answer must empty
    ``run.best_guarantee``, which is then outdated.
    """
    guarantee = selector.guarantee
    if guarantee.goal is Goal.MARK:
        return
    if (
        guarantee.average
        or guarantee.at_the_stop
        or guarantee.fixed != "confidence"
        or standing.gap >= 1
    ):
        return
    if standing.gap < run.best_guarantee.get("epsilon", 1.0):
        arms = roster.arms[selector.selection()]
        run.best_guarantee = {"epsilon": standing.gap, "arms": arms.tolist(), "step": run.steps}
