"""Whom a run selects: by its algorithm, by a proof, or by all answers where it ended early."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from selection.models import Run
from selection.models.roster import Roster
from topk import Early, Promise, Selector, Verdict, early, rounded_up, those_left

from .fit import restored

Counts = NDArray[np.int64]
COLUMNS = ("pulls", "skill", "gone", "rewards", "verdict")
# A selection that is proved is given up for the one that all answers favour where the ε of that is
# at most so many times as large: a point of accuracy at ε = .1, less than anybody would choose by.
AS_GOOD = 1.1
MOST_NAMED = 3
BY_ALGORITHM, BY_PROOF, BY_ANSWERS, EVERYBODY = "algorithm", "proof", "answers", "everybody"


@dataclass(frozen=True)
class Named:
    """arms      by the run's numbers
    by        algorithm (its own end, or as it goes on), proof (the best before the end), answers
              (all of them, at an early end), or everybody: no more were left than are wanted
    epsilon   at an early end, what holds of them by ``promise``; None where nothing does
    favoured  at an early end, whom all answers favour: others than ``arms`` only by a proof
    expected  at an early end, by arm, the accuracy of each worker there, from all answers; else {}
    """

    arms: Counts
    by: str = BY_ALGORITHM
    epsilon: float | None = None
    promise: Promise | None = None
    favoured: Counts | None = None
    expected: dict[int, float] | None = None

    @property
    def shown(self) -> float | None:
        """ε to three places, upwards, so that what is said of it still holds."""
        return None if self.epsilon is None or self.epsilon >= 1 else rounded_up(self.epsilon)


def ended_early(run: Run) -> bool:
    return run.status == Run.Status.ENDED and not run.finished


def named(run: Run) -> Named:
    rows = list(run.candidates.order_by("arm").values_list(*COLUMNS, named=True))
    return name(run, *restored(run, rows))


def name(run: Run, roster: Roster, selector: Selector | None) -> Named:
    """selector  the algorithm as it stands; None with too few to choose from"""
    if selector is None:
        return _those_left(run, roster)
    if not ended_early(run):
        return Named(roster.arms[selector.selection()])
    found = early(selector)
    arms = roster.arms[found.arms]
    expected = dict(zip(roster.arms.tolist(), found.expected.tolist(), strict=True))
    made = Named(arms, BY_ANSWERS, found.epsilon, found.promise, arms, expected)
    return _proved(run, roster, selector, made, found)


def _proved(run: Run, roster: Roster, selector: Selector, made: Named, found: Early) -> Named:
    """The selection of the best proof instead, where it is worth it; or with its ε, if the same."""
    if not run.proof:
        return made
    arms, least = np.sort(np.array(run.proof["arms"], np.int64)), run.proof["epsilon"]
    if np.array_equal(arms, np.sort(made.arms)):
        best = least if made.epsilon is None else min(least, made.epsilon)
        return replace(made, epsilon=best)
    close = made.epsilon is not None and made.epsilon <= AS_GOOD * least
    if close or not _keeps_verdicts(roster, selector, arms):
        return made
    return replace(made, arms=arms, by=BY_PROOF, epsilon=least)


def _keeps_verdicts(roster: Roster, selector: Selector, arms: Counts) -> bool:
    """Whether nobody was accepted or rejected since who says otherwise."""
    inside = np.isin(roster.arms, arms)
    verdict = selector.state.verdict
    accepted, rejected = verdict == Verdict.ACCEPTED, verdict == Verdict.REJECTED
    return bool(inside[accepted].all() and not inside[rejected].any())


def _those_left(run: Run, roster: Roster) -> Named:
    """Too few are left to choose from: all of them, once the run has ended so.

    Of several question sets one may still have more than it wants, and a worker may fill one place.
    """
    if run.ending != Run.Ending.ROSTER or not roster.arms.size:
        return Named(roster.arms[:0])
    if not run.several:
        return Named(roster.arms, EVERYBODY)
    rows = run.candidates.order_by("arm").values_list("rewards", "pulls")
    right, pulls = np.array(list(rows)).T[:, roster.arms]
    people = np.unique(roster.people, return_inverse=True)[1] if run.one_kind_each else None
    arms = those_left(right, pulls.astype(np.int64), [skill.k for skill in run.skills], people)
    return Named(roster.arms[arms], EVERYBODY)
