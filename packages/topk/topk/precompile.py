"""Compile the inner loops ahead of time, so that no request waits for it; numba caches them on
disk.

``python -m topk.precompile``, as ``make setup`` does.
"""

from .registry import COMMON_ORDER_SELECTORS, SELECTORS
from .simulate import simulate_run


def compile_all() -> None:
    """Run every algorithm briefly, pull by pull and in a batch."""
    for name, selector in (SELECTORS | COMMON_ORDER_SELECTORS).items():
        budget = 9 if "budget" in selector.needs else None
        for slots in (None, 2):
            simulate_run(
                name, [0.6, 0.5], k=1, slots=slots, epsilon=0.1, max_pulls=9, budget=budget
            )
    _certified_by_numberings()


def _certified_by_numberings() -> None:
    """Run ``certified`` on a pool that swaps do not certify, as they do the small one above."""
    means = [0.6, 0.5] * 6
    for slots in (None, 20):
        simulate_run("certified", means, k=6, slots=slots, epsilon=0.5, max_pulls=60)


if __name__ == "__main__":
    compile_all()
