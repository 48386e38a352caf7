"""Pair-LUCB: its evidence, its error rate and its cost."""

import math

import numpy as np
import pytest
from scipy.special import betaln

from tests.topk.harness import too_many
from topk import Problem
from topk.instances import two_group, uniform
from topk.published.pair_lucb import PairLUCB
from topk.simulate import simulate_run


def told(pulls, sums, k=2, delta=0.05):
    selector = PairLUCB(Problem(len(pulls), k, 0.0, delta))
    selector.tell(np.arange(len(pulls)), sums, pulls)
    return selector


def log_product(pulls, sums, p):
    """Return the log of the martingale of these arms at one common accuracy."""
    mixed = betaln(sums + 1, pulls - sums + 1)
    return (mixed - sums * np.log(p) - (pulls - sums) * np.log1p(-p)).sum(axis=-1)


def test_it_stops_when_the_weakest_pair_reaches_the_threshold():
    rng = np.random.default_rng(0)
    for _ in range(40):
        pulls = rng.integers(1, 300, 5)
        sums = np.round(pulls * rng.random(5), 1)  # rewards in [0, 1], not 0 and 1 alone
        selector = told(pulls, sums)
        chosen = selector.selection()
        evidence = [
            log_product(pulls[[i, j]], sums[[i, j]], sums[[i, j]].sum() / pulls[[i, j]].sum())
            for i in chosen
            for j in np.setdiff1d(np.arange(5), chosen)
        ]
        assert bool(selector.stop()) == (min(evidence) >= math.log(2 * 3 / 0.05))
        assert (selector.standing().gap == 0) == bool(selector.stop())


def test_the_common_mean_is_the_least_favourable_pair_of_accuracies():
    pulls, sums = np.array([80.0, 50.0]), np.array([60.0, 20.0])
    grid = np.linspace(0.01, 0.99, 99)
    worse, better = np.meshgrid(grid, grid)  # the first arm is called the worse one
    products = [
        log_product(pulls[:1], sums[:1], low) + log_product(pulls[1:], sums[1:], high)
        for low, high in zip(worse.ravel(), better.ravel(), strict=True)
        if low <= high
    ]
    assert min(products) >= log_product(pulls, sums, sums.sum() / pulls.sum()) - 1e-9


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_product_of_two_arms_seldom_reaches_its_threshold(delta):
    rng, runs, answers = np.random.default_rng(1), 600, np.arange(1, 301)
    right = np.cumsum(rng.random((runs, 2, answers.size)) < 0.7, axis=-1)
    pulls = np.broadcast_to(answers, right.shape)
    products = log_product(np.moveaxis(pulls, 1, -1), np.moveaxis(right, 1, -1), 0.7)
    reached = int((products.max(axis=1) >= math.log(1 / delta)).sum())
    assert reached > 0
    assert not too_many(reached, runs, delta)


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_selection_is_seldom_wrong(delta):
    means, runs = [0.9, 0.8, 0.7, 0.7, 0.3], 300
    wrong = sum(
        simulate_run("pair-lucb", means, k=2, delta=delta, seed=seed).selection.tolist() != [0, 1]
        for seed in range(runs)
    )
    assert not too_many(wrong, runs, delta)


@pytest.mark.parametrize("means", [two_group(10, 3), uniform(10)], ids=["two groups", "uniform"])
def test_it_needs_less_than_half_of_the_published_exact_rules(means):
    def cost(name):
        return np.mean([simulate_run(name, means, k=3, seed=seed).pulls for seed in range(10)])

    assert cost("pair-lucb") < min(cost("kl-lucb"), cost("lucb-plus-plus")) / 2


def test_an_unlucky_start_does_not_keep_it_from_ending():
    selector = told([10, 10, 10, 10, 10], [0, 8, 2, 3, 2], delta=0.1)
    truth = np.array([0.8, 0.8, 0.2, 0.2, 0.2])
    assert selector.simulate(truth, 50_000, False, np.random.default_rng(2)) == ("promise",)
    assert selector.selection().tolist() == [0, 1]


def test_its_bounds_hold_for_all_arms_at_once():
    truth, delta, wrong = np.array([0.9, 0.6, 0.5, 0.2]), 0.2, 0
    rng = np.random.default_rng(3)
    for _ in range(300):
        pulls = rng.integers(1, 200, 4)
        standing = told(pulls, rng.binomial(pulls, truth), k=1, delta=delta).standing()
        wrong += bool(((truth < standing.lower) | (truth > standing.upper)).any())
    assert not too_many(wrong, 300, delta)


def test_an_early_end_has_a_gap_that_falls():
    shares = np.array([0.6, 0.6, 0.4, 0.2])
    gaps = [told([t] * 4, t * shares).standing().gap for t in (5, 40, 160)]
    assert 1 >= gaps[0] > gaps[1] > gaps[2] > 0
