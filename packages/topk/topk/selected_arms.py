"""The selection of a run: by its algorithm, by a proof, or by all answers if it ended early."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .early_selection import select_early, select_remaining
from .guarantee import Guarantee, rounded_up
from .selector import Counts, Floats, Selector
from .state import Verdict

# A proved selection is given up for the one that all answers favour if the ε of the latter is at
# most this many times as large: a point of accuracy at ε = .1, too little to base a choice on.
AS_GOOD = 1.1
BY_ALGORITHM, BY_GUARANTEE, BY_ANSWERS, EVERYBODY = "algorithm", "guarantee", "answers", "everybody"


@dataclass(frozen=True)
class SelectedArms:
    """The arms that a run selects.

    arms      by the run's numbers
    by        algorithm (its own end, or a running one), proof (the best before the end), answers
              (all, at an early end), or everybody: no more were left than are wanted
    epsilon   at an early end, the ε that holds of them by ``guarantee``; None if no guarantee does
    untested  how many more would be selected if they had given an answer that counts
    short     how many more would be selected if they were shown to reach the pass mark
    favoured  at an early end, the arms that all answers favour: different from ``arms`` only by a
              proof
    expected  at an early end, by arm, the accuracy of each worker there, from all answers; else {}
    """

    arms: Counts
    by: str = BY_ALGORITHM
    epsilon: float | None = None
    guarantee: Guarantee | None = None
    favoured: Counts | None = None
    expected: dict[int, float] | None = None
    untested: int = 0
    short: int = 0

    @property
    def rounded_epsilon(self) -> float | None:
        """The ε rounded up to three places, so that the statement still holds; None without a
        guarantee.
        """
        return None if self.epsilon is None or self.epsilon >= 1 else rounded_up(self.epsilon)


def select_arms(
    selector: Selector,
    arms: Counts,
    ended_early: bool = False,
    proof: Mapping[str, Any] | None = None,
    lost: bool = False,
) -> SelectedArms:
    """Select as the algorithm stands.

    arms         (r,) the run's numbers of the algorithm's arms
    ended_early  True if the run is over and did not reach its algorithm's own end
    proof        the least ``epsilon`` that was proved, and the ``arms`` it was proved of; or empty
    lost         True if changes of the roster cost the guarantee: no ε is stated then
    """
    if not ended_early:
        return SelectedArms(arms[selector.selection()])
    early = select_early(selector)
    selected = arms[early.arms]
    expected = dict(zip(arms.tolist(), early.expected.tolist(), strict=True))
    selection = SelectedArms(
        selected, BY_ANSWERS, early.epsilon, early.guarantee, selected, expected
    )
    if lost:
        return replace(selection, epsilon=None)
    return _prefer_proved(selector, arms, selection, proof or {})


def only_tested(named: SelectedArms, pulls: Counts) -> SelectedArms:
    """Drop selected workers that have no counted answer: nothing speaks for them.

    pulls  (n,) answers counted, by the run's arms
    """
    arms, favoured = named.arms, named.favoured
    tested = arms[pulls[arms] > 0]
    return replace(
        named,
        arms=tested,
        untested=arms.size - tested.size,
        favoured=None if favoured is None else favoured[pulls[favoured] > 0],
    )


def only_marked(named: SelectedArms, reaching: NDArray[np.bool_]) -> SelectedArms:
    """Limit the selection to workers shown to reach the pass mark.

    reaching  (n,) by the run's arms
    """
    arms = named.arms[reaching[named.arms]]
    return replace(named, arms=arms, short=named.arms.size - arms.size)


def _prefer_proved(
    selector: Selector,
    roster: Counts,
    selection: SelectedArms,
    proof: Mapping[str, Any],
) -> SelectedArms:
    """Prefer the selection of the best proof if it is worth it; or the same arms with the proof's
    ε.
    """
    if not proof:
        return selection
    arms, least = np.sort(np.array(proof["arms"], np.int64)), proof["epsilon"]
    if np.array_equal(arms, np.sort(selection.arms)):
        best = least if selection.epsilon is None else min(least, selection.epsilon)
        return replace(selection, epsilon=best)
    close = selection.epsilon is not None and selection.epsilon <= AS_GOOD * least
    if close or not _keeps_verdicts(selector, roster, arms):
        return selection
    return replace(selection, arms=arms, by=BY_GUARANTEE, epsilon=least)


def _keeps_verdicts(selector: Selector, roster: Counts, arms: Counts) -> bool:
    """Tell if no arm was accepted or rejected contrary to this selection since its proof."""
    inside = np.isin(roster, arms)
    verdict = selector.state.verdict
    accepted, rejected = verdict == Verdict.ACCEPTED, verdict == Verdict.REJECTED
    return bool(inside[accepted].all() and not inside[rejected].any())


def select_everybody(
    arms: Counts, right: Floats, pulls: Counts, ks: Sequence[int], people: Counts | None = None
) -> SelectedArms:
    """Select all workers left, for a run that ended because they are too few to choose from.

    Of several kinds one may still have more than it needs, and a worker may fill one place.

    arms          (r,) the run's numbers of the workers left, whose tallies are (r,)
    people        (r,) worker of each arm, if no worker may fill two places
    """
    if len(ks) == 1 or not arms.size:
        return SelectedArms(arms, EVERYBODY)
    workers = None if people is None else np.unique(people, return_inverse=True)[1]
    return SelectedArms(
        arms[select_remaining(right, pulls.astype(np.int64), ks, workers)], EVERYBODY
    )
