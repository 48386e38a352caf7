"""The worst swap within quotas: docs/certified.md, section 4."""

from itertools import combinations

import numpy as np
import pytest

from topk import Problem
from topk.best_sets import Quotas
from topk.certified.selector import Certified
from topk.certified.swap_prices import RATES
from topk.certified.swaps import Swaps
from topk.certified.tally import Tally

from ..harness import too_many

ROUNDING = 1e-9


def keeps_to(quotas, selection):
    counts = np.bincount(quotas.groups[selection], minlength=quotas.sizes.size)
    return bool((counts >= quotas.at_least).all() and (counts <= quotas.at_most).all())


@pytest.mark.parametrize(
    ("least", "most"), [([1, 1, 1], [1, 1, 1]), ([0, 1, 0], [2, 2, 2]), ([2, 0, 0], [3, 1, 1])]
)
def test_bound_with_quotas_is_the_worst_permitted_swap(least, most):
    n, k, rng = 9, 3, np.random.default_rng(2)
    option = {"groups": [0, 1, 2] * 3, "at_least": least, "at_most": most}
    quotas = Quotas(n, k, option)
    swaps = Swaps(Problem(n, k, 0.1, 0.1), quotas, 0)
    for _ in range(20):
        pulls = rng.integers(2, 80, n)
        right = rng.binomial(pulls, rng.random(n))
        chosen = quotas.best(rng.random(n))
        gains = swaps._gains(chosen, Tally(pulls, right))
        dearest = np.full(RATES.size, -np.inf)
        for members in combinations(range(n), k):
            other = np.isin(np.arange(n), members)
            m = int((other & ~chosen).sum())
            if m and keeps_to(quotas, other):
                cost = gains[other != chosen].sum(axis=0) + swaps.levels[0, m - 1] * RATES
                dearest = np.maximum(dearest, cost)
        swap = swaps.worst(chosen, Tally(pulls, right))
        assert swap.total == pytest.approx(float(dearest.min()))
        after = chosen.copy()
        after[swap.swapped] ^= True
        assert keeps_to(quotas, after)


@pytest.mark.slow
def test_bound_with_quotas_is_rarely_below_the_regret_at_any_time():
    """The same with two of each kind, of which one each is wanted."""
    truth, broken = np.array([0.72, 0.6, 0.66, 0.55]), 0
    quotas = {"groups": [0, 0, 1, 1], "at_least": [1, 1], "at_most": [1, 1]}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        selector = Certified(Problem(4, 2, 0.02, 0.3), quotas=quotas)
        assert selector.swaps is not None
        for _ in range(12):
            counts = selector.ask(10)
            selector.tell(np.arange(4), rng.binomial(counts, truth), counts)
            regret = truth[[0, 2]].sum() - truth[selector.selection()].sum()
            if selector.standing().gap * 2 < regret - ROUNDING:
                broken += 1
                break
    assert not too_many(broken, 30, 0.3)
    assert too_many(20, 30, 0.3)


def test_quotas_that_leave_no_choice_are_certified_at_once():
    quotas = {"groups": [0, 0, 1, 1, 1], "at_least": [2, 0], "at_most": [2, 0]}
    selector = Certified(Problem(5, 2, 0.05, 0.05), quotas=quotas)
    assert selector.swaps is not None
    selector.tell(np.arange(5), [0, 0, 1, 1, 1])
    assert selector.stop()
    assert selector.selection().tolist() == [0, 1]
    assert selector.standing().gap == 0


@pytest.mark.slow
def test_quotas_cost_a_small_pool_little():
    """A fixed seed; four such pools took 9,823 by prices on average, and 3,272 by swaps."""
    quotas = {"groups": [0, 1, 2] * 10, "at_least": [1] * 3, "at_most": [3] * 3}
    truth, rng = np.random.default_rng(700).beta(12, 3, 30), np.random.default_rng(0)
    selector = Certified(Problem(30, 6, 0.05, 0.05), quotas=quotas)
    while not selector.stop():
        counts = selector.ask(None)
        selector.tell(np.arange(30), rng.binomial(counts, truth), counts)
    assert selector.state.pulls.sum() < 6_000
    best = truth[selector.quotas.best(truth)].sum()
    assert best - truth[selector.selection()].sum() <= 0.05 * 6


def test_second_swap_is_worked_at_if_the_worst_has_no_answer_left():
    quotas = {"groups": [0, 1] * 6, "at_least": [1, 1], "at_most": [2, 2]}
    truth, rng = np.linspace(0.95, 0.4, 12), np.random.default_rng(5)
    selector = Certified(Problem(12, 3, 0.05, 0.05), quotas=quotas)
    selector.tell(np.arange(12), rng.binomial(40, truth), pulls=40)
    assert selector.swaps is not None
    chosen, tally = selector._judgement()[1], selector._tally
    first = selector.swaps.worst(chosen, tally)
    open_to = np.ones(12, bool)
    open_to[first.arms] = False
    second = selector.swaps.worst(chosen, tally, open_to)
    assert second.total == first.total
    assert not second.arms.size or open_to[second.arms].any()
    nobody = selector.swaps.worst(chosen, tally, np.zeros(12, bool))
    assert not nobody.arms.size
