"""The best that was proved so far: a bound that holds at all times stays proved."""

from selection.models import Run
from selection.models.roster import Roster
from topk import Selector, Standing


def remember(run: Run, selector: Selector, standing: Standing, roster: Roster) -> None:
    """Keep the least ε that was proved, and whom it was proved for.

    Not for promises that hold on average only: what is expected changes with every answer. Nor for
    those that are about the stop alone: the best of many looks is not covered. Whoever
    changes the roster or an answer that counts empties ``run.proof``: it was about other things.
    """
    promise = selector.promise
    if promise.average or promise.at_the_stop or promise.fixed != "confidence" or standing.gap >= 1:
        return
    if standing.gap < run.proof.get("epsilon", 1.0):
        arms = roster.arms[selector.selection()]
        run.proof = {"epsilon": standing.gap, "arms": arms.tolist(), "step": run.steps}
