"""Pair-LUCB: its evidence, its error rate and its cost."""

import math

import numpy as np
import pytest
from scipy.special import betaln

from topk import Problem
from topk.instances import two_group, uniform
from topk.published.pair_lucb import PairLUCB
from topk.simulate import simulate_run

from ..harness import too_many


def told(pulls, sums, k=2, delta=0.05):
    selector = PairLUCB(Problem(len(pulls), k, 0.0, delta))
    selector.tell(np.arange(len(pulls)), sums, pulls)
    return selector


def log_product(pulls, sums, p):
    """Return the log of the martingale of these arms at one common accuracy."""
    mixed = betaln(sums + 1, pulls - sums + 1)
    return (mixed - sums * np.log(p) - (pulls - sums) * np.log1p(-p)).sum(axis=-1)


def threshold(rate):
    """Return the threshold if a single pair may go wrong at this rate."""
    return PairLUCB(Problem(2, 1, 0.0, rate))._threshold()


@pytest.mark.parametrize("rate", [0.5, 0.05, 0.05 / 21, 1e-9])
def test_two_uniform_variables_seldom_have_a_product_below_the_threshold(rate):
    x = threshold(rate)
    assert math.exp(-x) * (1 + x) == pytest.approx(rate)


def test_selector_stops_once_the_weakest_pair_reaches_the_threshold():
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
        assert bool(selector.stop()) == (min(evidence) >= threshold(0.05 / (2 * 3)))
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


def factors(runs, answers, theta=0.5):
    """Return (runs, 2, answers) the factors of two arms at their accuracy, along their rows."""
    right = np.random.default_rng(1).random((runs, 2, answers)) < theta
    sums, pulls = np.cumsum(right, axis=-1), np.arange(1.0, answers + 1)
    mixed = betaln(sums + 1, pulls - sums + 1)
    return mixed - sums * np.log(theta) - (pulls - sums) * np.log1p(-theta)


def held_back(paths):
    """Return (runs,) the greatest product if workers hold back answers that lower their factor.

    For the better one these are mostly right answers, for the other one wrong ones.
    """
    return np.maximum(paths.max(axis=-1), 0).sum(axis=1)


def asked_by_answers(paths):
    """Return (runs,) the same if every question goes to the worker closer to their best so far."""
    runs, _, answers = paths.shape
    best, now, each = np.zeros((runs, 2)), np.zeros((runs, 2)), np.arange(runs)
    asked = np.zeros((runs, 2), int)
    for _ in range(answers):
        arm = (best - now).argmin(axis=1)
        now[each, arm] = paths[each, arm, asked[each, arm]]
        best = np.maximum(best, now)
        asked[each, arm] += 1
    return best.sum(axis=1)


@pytest.mark.parametrize("crowd", [held_back, asked_by_answers])
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_a_pair_seldom_reaches_its_threshold_however_long_answers_take(delta, crowd):
    """Power: at ln(1 / delta), which is enough if every answer counts at once, it is too often."""
    runs = 1000
    products = crowd(factors(runs, 400))
    assert not too_many((products >= threshold(delta)).sum(), runs, delta)
    assert too_many((products >= math.log(1 / delta)).sum(), runs, delta)


WORSE = (1, 1, -1, -1)  # sign of the mean that is shown at its least


def worst_prefix(row, most, sign):
    """Return how many of the first ``most`` answers are shown: the last 20 may be held back."""
    pulls = np.arange(1, row.size + 1)
    means = sign * np.cumsum(row) / pulls
    first = max(most - 20, 1)
    return first + int(means[first - 1 : most].argmin())


def test_the_selection_is_seldom_wrong_although_answers_are_held_back():
    """Right answers of good workers are held back, and wrong ones of the others are late."""
    truth, delta, runs, wrong = np.array([0.8, 0.6, 0.4, 0.2]), 0.2, 60, 0
    for seed in range(runs):
        table = np.random.default_rng([4, seed]).random((4, 3000)) < truth[:, None]
        for most in range(1, 3000, 10):
            rows = zip(table, WORSE, strict=True)
            shown = np.array([worst_prefix(row, most, sign) for row, sign in rows])
            sums = [row[:count].sum() for row, count in zip(table, shown, strict=True)]
            selector = told(shown, np.array(sums), delta=delta)
            if selector.stop():
                wrong += selector.selection().tolist() != [0, 1]
                break
        else:
            raise AssertionError("it does not end")
    assert not too_many(wrong, runs, delta)


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_selection_is_seldom_wrong(delta):
    means, runs = [0.9, 0.8, 0.7, 0.7, 0.3], 300
    wrong = sum(
        simulate_run("pair-lucb", means, k=2, delta=delta, seed=seed).selection.tolist() != [0, 1]
        for seed in range(runs)
    )
    assert not too_many(wrong, runs, delta)


@pytest.mark.parametrize("means", [two_group(10, 3), uniform(10)], ids=["two groups", "uniform"])
def test_pair_lucb_needs_less_than_half_of_the_published_exact_rules(means):
    def cost(name):
        return np.mean([simulate_run(name, means, k=3, seed=seed).pulls for seed in range(10)])

    assert cost("pair-lucb") < min(cost("kl-lucb"), cost("lucb-plus-plus")) / 2


def test_an_unlucky_start_does_not_keep_it_from_ending():
    selector = told([10, 10, 10, 10, 10], [0, 8, 2, 3, 2], delta=0.1)
    truth = np.array([0.8, 0.8, 0.2, 0.2, 0.2])
    assert selector.simulate(truth, 50_000, False, np.random.default_rng(2)) == ("guarantee",)
    assert selector.selection().tolist() == [0, 1]


def test_bounds_hold_for_all_arms_at_once():
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
