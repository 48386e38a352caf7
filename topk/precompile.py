"""Compile the inner loops ahead of time, so that no request waits for it; numba caches them on
disk.

``python -m topk.precompile``, as ``make setup`` does.
"""

import numpy as np

from .certified.certificate import Tally
from .certified.crowd import spread_of_accuracies
from .certified.fates import foresee_fates
from .registry import SELECTORS
from .simulate import simulate_run


def compile_all() -> None:
    """Run every algorithm briefly, pull by pull and in a batch."""
    for name, selector in SELECTORS.items():
        budget = 9 if "budget" in selector.needs else None
        for slots in (None, 2):
            simulate_run(
                name, [0.6, 0.5], k=1, slots=slots, epsilon=0.1, max_pulls=9, budget=budget
            )
    _certified_by_prices()
    _plans_of_large_pools()


def _certified_by_prices() -> None:
    """Run ``certified`` with quotas, which force prices; the small pool above is certified by
    swaps.
    """
    quotas = {"groups": [0, 0, 1, 1], "at_least": [1, 1], "at_most": [1, 1]}
    for slots in (None, 2):
        simulate_run("certified", [0.6, 0.5] * 2, k=2, slots=slots, epsilon=0.5, quotas=quotas)


def _plans_of_large_pools() -> None:
    foresee_fates(horizon=12, number=5, kind=0, questions=0, each=0.01, warm=1, level=0)
    spread_of_accuracies(Tally(np.array([4, 4]), np.array([1, 3])))


if __name__ == "__main__":
    compile_all()
