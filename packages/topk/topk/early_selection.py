"""The selection of a run that ends early: the arms that all answers favour, and the bound that
holds.

An algorithm's own favourites may rest on a part of the answers (those of a round), or on the moment
at which a bound was least. Its verdicts are kept: a verdict is final.

Workers are compared by their posterior means under a population fitted to them all: a share of
right answers says the less the fewer they are, and 1 of 1 is not better than 37 of 40. How often a
worker was asked, and why, makes no difference to a posterior. Of equally many answers it always
prefers those with more right ones. A worker without an answer comes after all others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .best_sets import assign_workers, top_arms
from .certified import confidence_intervals
from .credible import posterior_means
from .guarantee import Goal, Guarantee
from .published.multi import MultiProblem
from .selector import Counts, Floats, Selector
from .state import Verdict

ROUNDING = 1e-9  # posterior means that differ by less are equal
ANYTIME = Guarantee(
    Goal.AGGREGATE,
    "confidence",
    "Confidence sequences for every worker at once, docs/certified.md, section 5",
)


@dataclass(frozen=True)
class EarlySelection:
    """The selection at an early end.

    arms      (k,) the arms selected, in rising order
    expected  (n,) the accuracy of each, by the population fitted to all
    epsilon   the ε that holds of them by ``guarantee``; None if no guarantee does
    """

    arms: Counts
    expected: Floats
    epsilon: float | None
    guarantee: Guarantee


def select_early(selector: Selector) -> EarlySelection:
    """Select as the algorithm stands now.

    One with a posterior or a common order makes its own selection.
    """
    state, guarantee = selector.state, selector.guarantee
    if guarantee.average or selector.common_order:
        standing = selector.standing()
        return EarlySelection(
            selector.selection(), standing.mean, _finite_epsilon(standing.gap), guarantee
        )
    expected = expected_of(selector)
    if guarantee.goal is Goal.MARK:  # whom it has accepted so far
        return EarlySelection(selector.selection(), expected, selector.problem.epsilon, guarantee)
    score = expected + ROUNDING * (state.rewards + 0.5) / (state.pulls + 1) + (state.pulls > 0)
    decided = state.verdict != Verdict.UNDECIDED
    arms = selector.best(np.where(decided, 4.0 * state.verdict, score))
    if guarantee.fixed == "budget" or guarantee.goal is Goal.NONE:
        within = replace(ANYTIME, within=guarantee.within)
        return EarlySelection(
            arms, expected, _finite_epsilon(_interval_epsilon(selector, arms)), within
        )
    bounds = guarantee.early if guarantee.goal is Goal.EXACT else guarantee.goal
    epsilon = 1.0 if bounds is Goal.NONE else selector.shortfall(arms)
    return EarlySelection(arms, expected, _finite_epsilon(epsilon), guarantee)


def expected_of(selector: Selector) -> Floats:
    """Compute (n,) posterior means; several problems are as many populations."""
    problem, state = selector.problem, selector.state
    if not isinstance(problem, MultiProblem):
        return posterior_means(state.rewards, state.pulls, problem.k)
    expected = np.empty(problem.n)
    for arms, k in zip(problem.arms_of(), problem.ks, strict=True):
        expected[arms] = posterior_means(state.rewards[arms], state.pulls[arms], k)
    return expected


def select_remaining(
    right: Floats, pulls: Counts, ks: Sequence[int], workers: Counts | None = None
) -> Counts:
    """Select the likely best if too few workers are left for all places: as many as can be placed.

    right, pulls  (n,) tallies, part after part
    ks            places in each part
    workers       (n,) worker of each arm, numbered from 0, if no worker may fill two places
    """
    parts = np.split(np.arange(right.size), len(ks))
    size = right.size // len(ks)
    if size > 1:
        expected = np.concatenate([posterior_means(right[arms], pulls[arms], 1) for arms in parts])
    else:
        expected = (right + 1) / (pulls + 2)
    if workers is None:
        chosen = [arms[top_arms(expected[arms], k)] for arms, k in zip(parts, ks, strict=True)]
        return np.concatenate(chosen)
    tasks = np.repeat(np.arange(len(ks)), size)
    return np.flatnonzero(assign_workers(expected, workers, tasks, np.array(ks)))


def _interval_epsilon(selector: Selector, arms: Counts) -> float:
    """Bound the regret by an ε that holds with probability 1 - delta at all times, under any rule
    of asking.

    Only for an algorithm without a guarantee of its own: a run that states now one guarantee and
    now another, each true except with probability delta, is wrong in up to 2 delta.
    """
    problem, state = selector.problem, selector.state
    level = math.log(problem.n / problem.delta)
    lower, upper = confidence_intervals(state.pulls, state.rewards, level, 0)
    return selector.worst_swap(arms, lower, upper)


def _finite_epsilon(epsilon: float) -> float | None:
    return epsilon if epsilon < 1 else None
