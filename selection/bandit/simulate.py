"""Play an algorithm on arms whose means are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .problem import Problem
from .registry import SELECTORS

PULLS_CAP = "max-pulls"


@dataclass(frozen=True)
class Outcome:
    """pulls          how many were made in all
    pulls_per_arm  int64 (n,)
    selection      (k,) the arms named, in rising order
    reasons        why it stopped: "promise", "budget", "max-pulls"
    """

    pulls: int
    pulls_per_arm: NDArray[np.int64]
    selection: NDArray[np.int64]
    reasons: tuple[str, ...]


def play(
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
    **options: Any,
) -> Outcome:
    """Run the algorithm of this name to its end on Bernoulli arms.

    means      (n,) in [0, 1]
    slots      pulls per batch at most; None pulls just as the paper does
    max_pulls  give up there, and say so in the reasons
    options    the algorithm's own

    Arms are numbered at random for the algorithm, so that the order of ``means`` tells it nothing.
    Raises KeyError for an unknown name and ProblemError for a problem that cannot be run.
    """
    rng = np.random.default_rng(seed)
    truth = np.asarray(means, float)
    place = rng.permutation(truth.size)
    shuffled = truth[place]
    problem = Problem(truth.size, k, epsilon, delta, budget)
    selector = SELECTORS[name](problem, **options)
    cap = np.inf if max_pulls is None else max_pulls
    while not (reasons := selector.stop()):
        if selector.state.pulls.sum() >= cap:
            reasons = (PULLS_CAP,)
            break
        counts = selector.ask(slots, rng=rng)
        arms = np.flatnonzero(counts)
        selector.tell(arms, rng.binomial(counts[arms], shuffled[arms]), counts[arms])
    pulls = np.empty(truth.size, np.int64)
    pulls[place] = selector.state.pulls
    return Outcome(int(pulls.sum()), pulls, np.sort(place[selector.selection()]), reasons)
