"""Simulation of an algorithm on arms with known means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .groups import check_groups
from .prices import check_prices
from .problem import Problem
from .registry import build_selector, score_options
from .selector import drive_selector

PULLS_CAP = "max-pulls"


@dataclass(frozen=True)
class Outcome:
    """The result of a simulated run.

    pulls          how many were made in all
    pulls_per_arm  int64 (n,)
    selection      (k,) the arms selected, in rising order
    reasons        why it stopped: "guarantee", "budget", "max-pulls"
    prices         (n,) of a pull of each arm; None if all cost the same
    """

    pulls: int
    pulls_per_arm: NDArray[np.int64]
    selection: NDArray[np.int64]
    reasons: tuple[str, ...]
    prices: NDArray[np.float64] | None = None

    @property
    def cost(self) -> float:
        """The price of all pulls; their number without prices."""
        return float(self.pulls if self.prices is None else self.pulls_per_arm @ self.prices)


def simulate_run(
    name: str,
    means: ArrayLike,
    *,
    k: int,
    epsilon: float = 0.0,
    delta: float = 0.05,
    budget: int | None = None,
    slots: int | None = None,
    max_pulls: int | None = None,
    seed: int = 0,
    gaussian: bool = False,
    prices: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    concentration: float | None = None,
    **options: Any,
) -> Outcome:
    """Run the algorithm of this name to its end on Bernoulli arms, or on arms with scores.

    means      (n,) in [0, 1]
    slots      pulls per batch at most; None pulls just as the paper does
    max_pulls  give up at this number, at the end of the round, and say so in the reasons
    prices     (n,) of a pull of each arm, for an algorithm that takes them
    groups     (n,) labels of the arms' known groups, for an algorithm that takes them
    gaussian   rewards of variance 1/4 instead of 0 and 1 (Jiang et al. 2017, section 5)
    concentration  rewards are scores, Beta(c m, c (1 - m)) for a mean of m and this c
    options    the algorithm's own

    Arms are numbered at random for the algorithm, so the order of ``means`` tells it nothing.
    Raises KeyError for an unknown name and ProblemError for a problem that cannot be run.
    """
    rng = np.random.default_rng(seed)
    truth = np.asarray(means, float)
    place = rng.permutation(truth.size)
    problem = Problem(truth.size, k, epsilon, delta, budget)
    costs = check_prices(prices, truth.size)
    if costs is not None:
        options["prices"] = costs[place]
    labels = check_groups(groups, truth.size)
    if labels is not None:
        options["groups"] = [labels[i] for i in place]
    if concentration is not None:
        options |= score_options(name)
    selector = build_selector(name, problem, **options)
    cap = np.iinfo(np.int64).max if max_pulls is None else max_pulls
    if slots is None and concentration is None:
        reasons = selector.simulate(truth[place], cap, gaussian, rng)
    else:
        truth = truth[place]
        reasons = drive_selector(selector, truth, slots, cap, gaussian, rng, concentration)
    pulls = np.empty(truth.size, np.int64)
    pulls[place] = selector.state.pulls
    selection = np.sort(place[selector.selection()])
    return Outcome(int(pulls.sum()), pulls, selection, reasons or (PULLS_CAP,), costs)
