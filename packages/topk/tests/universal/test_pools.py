"""The certificate for every fixed pool, and its bound on permanents."""

import math
from itertools import permutations

import numpy as np
import pytest

from topk.universal.certificate import Tally, certified
from topk.universal.likelihood import log_likelihoods, log_mean, tilted
from topk.universal.reference import NODES
from topk.universal.search import proved

NOBODY = np.zeros(0)


def permanent(matrix):
    """Ryser's formula."""
    n, total = len(matrix), 0.0
    for mask in range(1, 1 << n):
        columns = [j for j in range(n) if mask >> j & 1]
        total += (-1) ** (n - len(columns)) * matrix[:, columns].sum(1).prod()
    return total


def test_the_sum_over_numberings_is_bounded_for_every_pool():
    """Against exact permanents of pools that the bound was not told of."""
    rng, least = np.random.default_rng(5), np.inf
    grid = np.sin(np.linspace(0, np.pi / 2, 100)) ** 2
    grid[-1] = 1.0
    for _ in range(60):
        n = int(rng.integers(2, 8))
        answers = rng.integers(0, 50, n)
        right = rng.binomial(answers, rng.beta(6, 2, n)).astype(float)
        wrong, kinds = answers - right, rng.integers(0, 2, n)
        lam, x = rng.uniform(0, 30), np.full(100, 0.01)
        none = np.zeros(1)
        (bound,) = proved(right, wrong, kinds, np.ones(n), grid, x, lam, grid[70], none, float(n))
        theta = rng.choice((right + 1) / (answers + 2), n)
        logs = log_likelihoods(right, wrong, theta, 0)
        rows, scale = np.empty_like(logs), np.empty(n)
        tilted(logs, kinds, theta, lam, grid[70], rows, scale)
        exact = math.log(permanent(rows)) + scale.sum()
        assert exact <= bound
        least = min(least, bound - exact)
    assert least < 10


def test_the_bound_on_permanents_is_increasing_and_its_logarithm_concave():
    mean = np.linspace(0.01, 1, 400)
    value, slope, bend = np.array([log_mean(m, 20.0) for m in mean]).T
    rises = np.diff(value) / np.diff(mean)
    assert (np.diff(rises) < 0).all()
    assert (slope > 0).all()
    assert (bend > 0).all()
    assert (slope[1:] - 1e-9 <= rises).all()
    assert (rises <= slope[:-1] + 1e-9).all()
    assert log_mean(1 / 20, 20.0)[0] == pytest.approx(0)


def test_roots_of_factorials_rise_less_and_less():
    roots = [0.0, *(math.exp(math.lgamma(k + 1) / k) for k in range(1, 2001))]
    assert (np.diff(roots, 2) < 0).all()


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_bound_is_reached_by_blocks_of_ones(k):
    blocks = np.kron(np.eye(12 // k), np.ones((k, k)))
    size = len(blocks)
    bound = size * log_mean(k / size, float(size))[0]
    assert bound == pytest.approx(math.log(permanent(blocks)), abs=1e-9)


def test_the_bound_holds_for_rows_between_0_and_1():
    rng = np.random.default_rng(8)
    for _ in range(100):
        n = int(rng.integers(2, 9))
        matrix = rng.random((n, n)) ** rng.uniform(0.1, 8)
        matrix /= matrix.max(1, keepdims=True)
        bound = sum(log_mean(m, float(n))[0] for m in matrix.mean(1))
        assert math.log(permanent(matrix)) <= bound + 1e-12


def test_no_pool_breaks_the_certificate():
    """The mean over all numberings of P(answers and regret above epsilon), exactly."""
    rng = np.random.default_rng(6)
    for _ in range(25):
        n, k, delta = int(rng.integers(2, 6)), 1, 0.5
        answers = rng.integers(5, 60, n)
        right = rng.binomial(answers, rng.random(n)).astype(float)
        tally = Tally(right, answers - right, NOBODY, NOBODY)
        chosen = np.zeros(n, bool)
        chosen[np.argmax((right + 1) / (answers + 2))] = True
        slices = tally.reference.slices
        epsilon = certified(tally, chosen, k, delta, pool=True).epsilon(slices)
        for _ in range(8):
            theta = np.clip(rng.permutation(right / answers) + 0.1 * rng.normal(size=n), 0.01, 0.99)
            total = 0.0
            for order in permutations(range(n)):
                renumbered = theta[list(order)]
                lost = renumbered.max() - renumbered[chosen][0]
                logs = right * np.log(renumbered) + tally.wrong * np.log1p(-renumbered)
                total += math.exp(logs.sum()) * (lost > epsilon)
            most = slices.max()
            q = most + math.log(np.interp(theta.mean(), NODES, np.exp(slices - most)))
            assert total / math.factorial(n) <= delta * math.exp(q) * (1 + 1e-9)


def test_a_pool_costs_more_than_a_population():
    rng = np.random.default_rng(7)
    right = rng.binomial(40, rng.beta(6, 2, 60)).astype(float)
    tally = Tally(right, 40 - right, NOBODY, NOBODY)
    chosen = np.zeros(60, bool)
    chosen[np.argsort(-right)[:12]] = True
    one, other = (
        certified(tally, chosen, 12, 0.05, pool).epsilon(tally.reference.slices)
        for pool in (False, True)
    )
    assert one < other < 2 * one
