"""The certificate against brute force: no population breaks it."""

import math
from itertools import product

import numpy as np
import pytest

from topk.universal.bounds import cells, highest
from topk.universal.certificate import Tally, certified
from topk.universal.likelihood import climb, log_likelihoods, tilted
from topk.universal.reference import (
    MEAN_PRIOR,
    NODES,
    ODD_PRIOR,
    PAIR_PRIOR,
    SHARE_PRIOR,
    SIDES,
    WIDTH_PRIOR,
    log_odd,
    odd_moments,
    reference,
)
from topk.universal.search import proved

NOBODY = np.zeros(0)


def tally_of(right, answers):
    right, answers = np.array(right, float), np.array(answers, float)
    return Tally(right, answers - right, NOBODY, NOBODY)


def chosen_of(n, arms):
    chosen = np.zeros(n, bool)
    chosen[arms] = True
    return chosen


def wrong_and_seen(tally, chosen, k, epsilon, points, mass):
    """P(answers and regret above epsilon), by summing over all accuracies of all workers."""
    total, rows = 0.0, np.array(list(product(range(points.size), repeat=tally.right.size)))
    theta = points[rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(tally.right > 0, tally.right * np.log(theta), 0.0)
        logs += np.where(tally.wrong > 0, tally.wrong * np.log1p(-theta), 0.0)
    weight = np.exp(logs.sum(1)) * mass[rows].prod(1)
    best = np.sort(theta, axis=1)[:, -k:].mean(1)
    regret = best - theta[:, chosen].mean(1)
    total = weight[regret > epsilon + 1e-12].sum()
    return float(total)


def log_reference_at(tally, mean):
    """The reference measure of populations with this mean, as the proof defines it."""
    slices = tally.reference.slices
    return float(np.log(np.interp(mean, NODES, np.exp(slices - slices.max())))) + slices.max()


@pytest.mark.parametrize("delta", [0.05, 0.5, 0.9])
def test_no_population_breaks_the_certificate(delta):
    """Power: with a tenth of the certified epsilon some populations break it."""
    rng, broken = np.random.default_rng(1), 0
    for _ in range(40):
        n, k = int(rng.integers(2, 5)), 1
        answers = rng.integers(0, 60, n)
        right = rng.binomial(answers, rng.random(n))
        tally = tally_of(right, answers)
        chosen = chosen_of(n, np.argsort(-(right + 1) / (answers + 2))[:k])
        bound = certified(tally, chosen, k, delta)
        for number in range(12):
            points = rng.random(4)
            if number % 2:  # about where the answers put the workers
                points = np.clip((right[rng.integers(0, n, 4)] + 1) / 60, 0.01, 0.99) + 0.1 * (
                    points - 0.5
                )
                points = np.clip(points, 0, 1)
            mass = rng.dirichlet(np.full(4, 0.5))
            epsilon = bound.epsilon(tally.reference.slices)
            reference_log = log_reference_at(tally, float(points @ mass))
            allowed = delta * math.exp(reference_log)
            seen = wrong_and_seen(tally, chosen, k, epsilon, points, mass)
            assert seen <= allowed * (1 + 1e-9)
            broken += wrong_and_seen(tally, chosen, k, epsilon / 10, points, mass) > allowed
    assert broken > 0


def test_the_supremum_is_bounded_from_any_start_and_nearly_reached(sample):
    rng, points = np.random.default_rng(2), sample(1000, 3000)
    for n, answers, lam in ((5, 10, 3.0), (30, 40, 20.0), (60, 150, 50.0)):
        right = rng.binomial(answers, rng.beta(6, 2, n)).astype(float)
        wrong, kinds = answers - right, (right >= np.sort(right)[-3]).astype(np.int64)
        workers, fine = np.ones(n), np.sin(np.linspace(0, np.pi / 2, points)) ** 2
        fine[-1] = 1.0
        logs = log_likelihoods(right, wrong, fine, 0)
        rows, scale = np.empty_like(logs), np.empty(n)
        tilted(logs, kinds, fine, lam, 0.8, rows, scale)
        for eta in (0.0, 30.0, -30.0):
            x = np.full(fine.size, 1 / fine.size)
            reached = climb(rows, workers, x, eta * fine, 0.0, 1e-3) + scale.sum()
            coarse = np.sin(np.linspace(0, np.pi / 2, 200)) ** 2
            coarse[-1] = 1.0
            bad, good = np.full(200, 1 / 200), np.full(200, 1 / 200)
            etas = np.array([eta])
            (tight,) = proved(right, wrong, kinds, workers, coarse, good, lam, 0.8, etas, 0.0)
            assert reached - 1e-3 <= tight <= reached + 1.0
            (other,) = proved(right, wrong, kinds, workers, coarse, bad, lam, 0.8, etas, 0.0)
            assert other >= reached - 1e-3


def test_bounds_hold_between_the_points_of_a_grid():
    rng = np.random.default_rng(3)
    fine = np.linspace(0, 1, 20_001)
    for _ in range(30):
        size = int(rng.integers(1, 8))
        right, wrong = rng.integers(0, 200, (2, size)).astype(float)
        kinds, lam, c = rng.integers(0, 3, size), rng.uniform(0, 60), rng.uniform(0.1, 0.9)
        logs = log_likelihoods(right, wrong, fine, 0)
        rows, scale = np.empty_like(logs), np.empty(size)
        tilted(logs, kinds, fine, lam, c, rows, scale)
        weight, fall = rng.random(size) / size, rng.normal()
        truth = float((weight @ rows - fall * fine).max())
        parts = np.c_[right, wrong, kinds, -scale]
        ends, table = cells(parts, np.linspace(0, 1, 30), lam, c)
        bound, seen = highest(parts, weight, ends, table, lam, c, fall, 1e-4)
        assert truth <= bound + 1e-12
        assert bound <= truth + 1e-3
        assert seen <= bound


# -- the reference measure


def test_the_prior_weights_are_of_a_probability():
    for prior in (MEAN_PRIOR, WIDTH_PRIOR, PAIR_PRIOR, SHARE_PRIOR):
        assert np.exp(prior).sum() == pytest.approx(1)


@pytest.mark.parametrize("answers", [1, 4, 9])
def test_the_reference_measure_of_all_answers_is_at_most_one(answers):
    """One worker, and two with as many answers: sums over all tallies, each with its number of
    orders."""
    ways = np.array([math.comb(answers, s) for s in range(answers + 1)])
    total, slices, two = 0.0, np.zeros(NODES.size), 0.0
    for s in range(answers + 1):
        known = reference(np.array([float(s)]), np.array([float(answers - s)]), np.ones(1))
        total += ways[s] * math.exp(known.log_q)
        slices += ways[s] * np.exp(known.slices)
        for t in range(answers + 1):
            right = np.array([float(s), float(t)])
            both = reference(right, answers - right, np.ones(2))
            two += ways[s] * ways[t] * math.exp(both.log_q)
    assert 0.4 < total <= 1 + 1e-9
    assert 0.25 < two <= 1 + 1e-9
    assert (slices <= 1 + 1e-9).all()


def test_the_parts_with_a_mean_make_up_the_whole():
    """The whole is the mean of its parts, weighted by their prior: no part can be missing."""
    rng = np.random.default_rng(4)
    right = rng.binomial(20, 0.7, 30).astype(float)
    known = reference(right, 20 - right, np.ones(30))
    assert known.slices.max() > known.log_q + 1
    assert known.slices.min() == pytest.approx(known.log_q + math.log(0.15))
    for part in known.parts:
        assert [part.weight.sum(), part.shares.sum()] == pytest.approx([1, 1])


def test_the_weights_of_odd_workers_are_of_a_probability():
    assert sum(SIDES.values()) == pytest.approx(1)
    assert np.exp(ODD_PRIOR).sum() == pytest.approx(1)


@pytest.mark.parametrize("side", [-1, 1])
def test_odd_tallies_have_a_probability_and_the_mean_of_the_next_answer(side):
    """The next answer of an odd worker is right with the mean of the accuracy given the others."""
    answers = 30
    right = np.arange(answers + 1.0)
    logs, ways = log_odd(right, answers - right, side), [math.comb(answers, s) for s in range(31)]
    assert float(np.exp(logs) @ ways) == pytest.approx(1)
    mean, variance = odd_moments(right, answers - right, side)
    following = np.exp(log_odd(right + 1, answers - right, side) - logs)
    assert mean == pytest.approx(following, abs=1e-12)
    assert (variance > 0).all()


@pytest.mark.parametrize("side", [-1, 1])
def test_the_reference_measure_with_odd_workers_is_at_most_one(side):
    """A worker taken as odd by these answers, or not, and one of few answers: all tallies."""
    answers, few, total = 30, 2, 0.0
    slices = np.zeros(NODES.size)
    for s in range(answers + 1):
        for t in range(few + 1):
            right = np.array([float(s), float(t)])
            known = reference(right, np.array([answers, few]) - right, np.ones(2))
            ways = math.comb(answers, s) * math.comb(few, t)
            total += ways * math.exp(known.log_q)
            slices += ways * np.exp(known.slices)
    assert 0.3 < total <= 1 + 1e-9
    assert (slices <= 1 + 1e-9).all()


@pytest.mark.parametrize(("odd", "wrong"), [(0.0, 30), (1.0, 0)])
def test_odd_workers_cost_the_reference_measure_little(odd, wrong):
    """Against the likeliest share of them, and the others without them: nats."""
    rng = np.random.default_rng(4)
    right = rng.binomial(30, rng.uniform(0.5, 0.8, 30)).astype(float)
    without = reference(right, 30 - right, np.ones(30)).log_q
    for number in (1, 4):
        tallies = np.r_[right, np.full(number, 30.0 - wrong)]
        with_odd = reference(tallies, 30 - tallies, np.ones(30 + number)).log_q
        share = number / (30 + number)
        best = number * math.log(share) + 30 * math.log(1 - share)
        assert without + best - 6 < with_odd < without


def test_whole_pool_may_be_odd():
    known = reference(np.zeros(3), np.full(3, 20.0), np.ones(3))
    assert np.isfinite(known.slices).all()
