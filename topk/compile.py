"""Compile the inner loops once, so that nobody waits for it later: numba keeps them on disk.

``python -m topk.compile``, as ``make setup`` does.
"""

from .certified.fates import fates
from .registry import SELECTORS
from .simulate import play


def compile_all() -> None:
    """Run every algorithm for a moment, pull by pull and in a batch."""
    for name, selector in SELECTORS.items():
        budget = 9 if "budget" in selector.needs else None
        for slots in (None, 2):
            play(name, [0.6, 0.5], k=1, slots=slots, epsilon=0.1, max_pulls=9, budget=budget)
    fates(
        horizon=12, number=5, kind=0, questions=0, each=0.01, warm=1, level=0
    )  # of large pools alone


if __name__ == "__main__":
    compile_all()
