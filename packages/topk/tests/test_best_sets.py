"""The best sets without a sort of all arms: the same arms as with one, ties and nan included."""

import numpy as np
import pytest

from topk.best_sets import kth_rival_values, rank_arms, top_arms

RNG = np.random.default_rng(5)
VALUES = {
    "distinct": RNG.permutation(30) / 30,
    "tied": RNG.integers(0, 4, 30) / 4,
    "equal": np.zeros(30),
    "signed zeros": np.array([0.0, -0.0] * 15),
    "partly unknown": np.where(RNG.random(30) < 0.5, np.nan, RNG.integers(0, 4, 30)),
    "unknown": np.full(30, np.nan),
    "unbounded": np.where(RNG.random(30) < 0.5, np.inf, -np.inf),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("k", [0, 1, 7, 15, 29, 30])
def test_top_arms_are_the_first_of_the_ranking(values, k):
    assert top_arms(values, k).tolist() == sorted(rank_arms(values)[:k].tolist())


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("k", [1, 7, 15, 29])
def test_rival_is_the_kth_of_the_others(values, k):
    others = [np.delete(values, arm) for arm in range(values.size)]
    expected = [rest[rank_arms(rest)[k - 1]] for rest in others]
    np.testing.assert_array_equal(kth_rival_values(values, k), expected)
