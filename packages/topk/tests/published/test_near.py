"""Looks over few of many arms: the same pulls as over all of them."""

import numpy as np
import pytest

from topk import Problem, build_selector
from topk.published import kernels
from topk.published.kernels import near
from topk.published.sequential import SequentialSelector
from topk.registry import SELECTORS

PAIRED = [
    name
    for name, one in SELECTORS.items()
    if issubclass(one, SequentialSelector)
    and one(Problem(3, 1, 0.1, 0.1, 99)).strategy.sampling in (kernels.PAIR, kernels.COIN)
]
N, SLOTS = 120, 12


def draw_ask(name: str, seed: int) -> np.ndarray:
    """Return the pulls asked after random answers with many ties."""
    rng = np.random.default_rng(seed)
    pulls = rng.choice([4, 5, 9, 40], N)
    rewards = rng.binomial(pulls, rng.choice([0.4, 0.6, 0.9], N)).astype(float)
    problem = Problem(N, int(rng.integers(1, N)), 0.02, 0.1, 10_000)
    selector = build_selector(name, problem)
    selector.tell(np.arange(N), rewards, pulls)
    if seed % 2:
        selector.stop()  # looks at the same means
    pending, room = rng.integers(0, 3, N), rng.integers(0, 4, N)
    return selector.ask(SLOTS, pending, room, rng)


@pytest.mark.parametrize("name", PAIRED)
def test_narrow_board_gives_the_same_pulls(name, monkeypatch):
    sizes = []
    narrow = kernels.narrow_board
    monkeypatch.setattr(
        kernels, "narrow_board", lambda *board: sizes.append(board[-1].size) or narrow(*board)
    )
    for seed in range(40):
        monkeypatch.setattr(near, "MANY", N + 1)
        expected = draw_ask(name, seed)
        monkeypatch.setattr(near, "MANY", 1)
        np.testing.assert_array_equal(draw_ask(name, seed), expected)
    assert min(sizes) < N / 2
