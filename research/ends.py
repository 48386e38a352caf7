"""The end states of runs of ``certified``, from which its payoffs are learned.

They are stored, to repeat the training after the choice of workers has changed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topk import Problem
from topk.certified.certificate import Certificate
from topk.certified.designs import KINDS
from topk.certified.selector import Certified
from topk.selector import drive_selector

Floats = NDArray[np.float64]
Random = np.random.Generator

KEPT = Path(__file__).with_name("ends.npz")
# Training runs use the other kinds, so that the payoffs do not depend on themselves.
NOT_LEARNED = [number for number, (_, gate) in enumerate(KINDS) if gate is not None]
POOLS: tuple[tuple[Callable[[Random], Floats], int, float, float, int], ...] = (
    (lambda rng: rng.beta(6, 2, 100), 20, 0.05, 0.05, 14),
    (lambda rng: rng.beta(4, 2, 100), 20, 0.05, 0.05, 6),
    (lambda rng: rng.beta(2, 2, 60), 15, 0.06, 0.05, 6),
    (lambda rng: rng.beta(16, 4, 100), 20, 0.05, 0.05, 6),
    (lambda rng: rng.beta(6, 2, 30), 8, 0.05, 0.05, 8),
    (lambda rng: rng.beta(9, 3, 200), 60, 0.04, 0.05, 4),
    (lambda rng: rng.random(100), 30, 0.08, 0.01, 6),
)
SEED = 77


@dataclass(frozen=True)
class RunEnd:
    """The end of a run: (n,) answers, right ones, True if selected; its horizon and threshold."""

    pulls: NDArray[np.int64]
    right: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    horizon: int
    c: float


def play_pools() -> Iterator[RunEnd]:
    """Yield the ends of runs on all pools, except of runs that end by intervals."""
    for number, (pool, k, epsilon, delta, runs) in enumerate(POOLS):
        for run in range(runs):
            rng = np.random.default_rng([SEED, number, run])
            truth = pool(rng)
            selector = certified_by_prices(Problem(truth.size, k, epsilon, delta))
            drive_selector(selector, truth, None, 200_000, False, rng)
            if (found := selector.design()) is not None:
                h, c = found
                chosen = np.isin(np.arange(truth.size), selector.selection())
                right = selector.state.rewards.astype(np.int64)
                yield RunEnd(selector.state.pulls, right, chosen, h, c)


def certified_by_prices(problem: Problem) -> Certified:
    """Return the algorithm without swaps, which small pools use otherwise."""
    selector = Certified(problem)
    selector.swaps = None
    selector.certificate = Certificate(problem, selector.quotas, selector.questions, NOT_LEARNED)
    return selector


def save_ends(path: Path, ends: Sequence[RunEnd]) -> None:
    """Write the ends, concatenated in columns."""
    np.savez_compressed(
        path,
        allow_pickle=False,
        n=np.array([end.pulls.size for end in ends], np.int16),
        horizon=np.array([end.horizon for end in ends], np.int16),
        c=np.array([end.c for end in ends]),
        pulls=np.concatenate([end.pulls for end in ends]).astype(np.int16),
        right=np.concatenate([end.right for end in ends]).astype(np.int16),
        chosen=np.concatenate([end.chosen for end in ends]),
    )


def load_ends(path: Path = KEPT) -> list[RunEnd]:
    """Return the stored ends."""
    with np.load(path) as stored:
        at = np.cumsum(stored["n"].astype(np.int64))[:-1]
        columns = [np.split(stored[name].astype(np.int64), at) for name in ("pulls", "right")]
        chosen = np.split(stored["chosen"], at)
        pairs = zip(stored["horizon"].tolist(), stored["c"].tolist(), strict=True)
        rows = zip(*columns, chosen, pairs, strict=True)
        return [RunEnd(pulls, right, took, h, c) for pulls, right, took, (h, c) in rows]
