"""The least mean accuracy of selected workers: never wrong more often than stated, and near."""

import numpy as np
import pytest
from scipy.stats import binom

from topk.mean_bound import bound_mean
from topk.problem import ProblemError


def stop_at_the_worst_time(rng, accuracies, k, delta, rounds=25, size=None):
    """Return the highest bound minus the truth, if somebody looks after each round.

    The best so far are asked, and selected: what favours luck most.
    """
    n = accuracies.size
    tables = rng.random((n, size or 10 * rounds)) < accuracies[:, None]
    truth = tables.mean(1) if size else accuracies
    pulls, worst = np.full(n, 2), -1.0
    for _ in range(rounds):
        sums = np.array([row[:count].sum() for row, count in zip(tables, pulls, strict=True)])
        best = np.argsort(-sums / pulls, kind="stable")[:k]
        sizes = None if size is None else np.full(n, size)
        bound = bound_mean(sums, pulls, best, k, delta, questions=sizes)
        worst = max(worst, bound - truth[best].mean())
        pulls[best] = np.minimum(pulls[best] + 2, tables.shape[1])
    return worst


@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("size", [None, 60])
def test_bound_holds_at_the_worst_time_for_the_luckiest(sample, delta, size):
    rng, plays = np.random.default_rng(21), sample(12, 400)
    pools = (np.full(6, 0.5), np.full(6, 0.95), np.linspace(0.3, 0.9, 6))
    wrong = sum(
        stop_at_the_worst_time(rng, pools[play % 3], 2, delta, size=size) > 1e-9
        for play in range(plays)
    )
    assert wrong <= binom.ppf(0.9999, plays, delta)


@pytest.mark.parametrize("k", [1, 4])
def test_bound_comes_near_with_many_answers(k):
    pulls = np.full(20, 2000)
    sums = np.round(np.linspace(0.5, 0.9, 20) * pulls)
    best = np.arange(20 - k, 20)
    bound = bound_mean(sums, pulls, best, k, 0.05)
    assert 0 < sums[best].sum() / pulls[best].sum() - bound < 0.035
    on_set = bound_mean(sums, pulls, best, k, 0.05, questions=np.full(20, 2000))
    assert on_set == pytest.approx(sums[best].sum() / (2000 * k), abs=2e-3)  # all is known


def test_bound_is_lower_for_joiners_and_for_sets_of_another_size():
    sums, pulls = np.array([40.0, 30.0, 20.0]), np.full(3, 50)
    plain = bound_mean(sums, pulls, [0], 1, 0.05)
    assert bound_mean(sums, pulls, [0], 1, 0.05, joined=True) < plain
    assert bound_mean(sums, pulls, [0], 2, 0.05) < plain
    assert bound_mean(sums, pulls, [0], 1, 0.01) < plain
    assert bound_mean(np.zeros(3), np.zeros(3), [0], 1, 0.05) == 0


@pytest.mark.parametrize(("sums", "chosen"), [([3.0], [0]), ([-1.0], [0]), ([1.0], [])])
def test_impossible_tallies_are_refused(sums, chosen):
    with pytest.raises(ProblemError):
        bound_mean(sums, [2], chosen, 1, 0.05)
