"""`credible`: its populations and its posterior, against plain sampling."""

import math

import numpy as np
import pytest

from topk import Problem
from topk.credible.grid import Grid
from topk.credible.groups import SMOOTH_MASS, two_group_populations
from topk.credible.mode import log_slopes
from topk.credible.population import Population, Prior, luck
from topk.credible.posterior import Posterior
from topk.credible.posterior_risk import HALVINGS

from .pools import pool, run, told

# -- the posterior, against plain sampling


def draws(posterior, size, rng):
    """(size, n) accuracies, and (size,) borders: a population first, then each worker under it."""
    populations = rng.choice(posterior.draws.weight.size, size, p=posterior.draws.weight)
    theta = np.empty((size, posterior.group.size))
    for row, population in enumerate(populations):
        cells = posterior.like * posterior.draws.w[population]
        sums = np.cumsum(cells / cells.sum(1, keepdims=True), 1)[posterior.group]
        cell = (sums < rng.random((theta.shape[1], 1))).sum(1).clip(max=sums.shape[1] - 1)
        theta[row] = posterior.grid.theta[cell]
    return theta, posterior.grid.theta[posterior.draws.borders[populations]]


@pytest.mark.parametrize("answers", [4, 10])
def test_the_risk_is_that_of_plain_draws(answers):
    selector = told(pool(1, 60), answers, Problem(60, 12, 0.06, 0.05))
    judged = selector._posterior_risk()
    theta, borders = draws(judged.posterior, 3000, np.random.default_rng(0))
    up, down = np.maximum(theta - borders[:, None], 0), np.maximum(borders[:, None] - theta, 0)
    bound = np.where(judged.chosen, down, up).sum(1) / 12
    for epsilon in np.quantile(bound, [0.2, 0.5, 0.8, 0.95]):
        found = judged.bound.weight @ judged.bound.tails(epsilon)
        assert found == pytest.approx((bound > epsilon).mean(), abs=0.03)
    average, group = judged.posterior.average, judged.posterior.group
    assert average.mean[group] == pytest.approx(theta.mean(0), abs=0.02)
    assert judged.above == pytest.approx((theta > average.border).mean(0), abs=0.05)


def test_the_bound_is_never_below_the_regret():
    rng = np.random.default_rng(5)
    for _ in range(200):
        theta, chosen, t = rng.random(12), rng.permutation(12) < 4, rng.random()
        bound = np.where(chosen, np.maximum(t - theta, 0), np.maximum(theta - t, 0)).sum()
        assert bound >= np.sort(theta)[-4:].sum() - theta[chosen].sum() - 1e-12


def test_the_average_over_the_pool_follows_the_pool():
    """Bells, two groups and spikes at the ends: the mean of all posteriors is the pool's."""
    groups = np.r_[np.full(150, 0.3), np.full(150, 0.8)]
    for truth in (pool(2, 300), groups, np.zeros(300), np.ones(300)):
        standing = told(truth, 15).standing()
        assert standing.mean.mean() == pytest.approx(truth.mean(), abs=0.03)


def test_a_density_has_the_moments_of_its_beta_when_nothing_bends_it():
    grid, x = Grid(400), Prior().centre
    theta, w = grid.theta, grid.density(x[None])[0]
    mean = 1 / (1 + np.exp(-x[0]))
    assert w @ theta == pytest.approx(mean, abs=1e-3)
    assert w @ theta**2 - (w @ theta) ** 2 == pytest.approx(mean * (1 - mean) / 7, rel=0.01)


def test_slopes_are_the_derivatives_of_the_log_density():
    grid, x = Grid(100), np.r_[0.4, 1.5, 0.3, -0.2, 0.1, 0.0, 0.2, -0.1]
    log_slopes(x, grid.basis, found := np.empty((8, 100)))
    for row, slope in enumerate(found):
        step = 1e-5 * np.eye(8)[row]
        up, down = np.log(grid.density(np.array([x + step, x - step])))
        off = (up - down) / 2e-5 - slope
        assert np.ptp(off) == pytest.approx(0, abs=1e-4)


def test_rewards_between_0_and_1_are_taken_too():
    posterior = Posterior(np.array([0.5, 1.7]), np.array([1, 2]), Prior(), 1, 50)
    low, high = posterior.average.mean[posterior.group]
    assert low < high


def test_the_mean_weight_of_the_drawn_is_the_probability_of_the_tallies():
    """Against plain draws from the prior: else two kinds of population could not be compared."""
    rng, prior, grid = np.random.default_rng(8), Prior(), Grid(100)
    right, answers, workers = np.array([1.0, 3.0, 4.0]), np.full(3, 4.0), np.array([1.0, 2.0, 3.0])
    population = Population(grid, prior, right, answers, workers)
    x = prior.centre + rng.standard_normal((40_000, 8)) / np.sqrt(prior.precision)
    bends = np.sqrt(prior.bend_nu / rng.chisquare(prior.bend_nu, (40_000, 1)))
    x[:, 2:] *= bends
    plain = np.exp(population.log_likelihood(population.fit(grid.density(x)))).mean()
    *_, logs = population.draw(luck((1, 1), 20_000))
    assert np.exp(logs).mean() == pytest.approx(plain, rel=0.05)


# -- two groups


def weight_of_groups(truth, answers, k, epsilon=0.05):
    """Posterior probability of the populations that are not smooth."""
    draws = told(truth, answers, Problem(truth.size, k, epsilon, 0.05))._posterior_risk()
    draws = draws.posterior.draws
    return draws.weight[~draws.random].sum()


def test_two_groups_and_bells_are_recognised():
    assert weight_of_groups(np.r_[np.full(20, 0.9), np.full(80, 0.7)], 60, 20) > 0.9
    assert weight_of_groups(np.full(100, 0.7), 60, 20) > 0.9
    assert weight_of_groups(pool(1, 100), 60, 20) < 0.05


def test_a_hidden_gap_is_never_ruled_out_by_few_answers():
    truth = np.r_[np.full(20, 0.9), np.full(80, 0.7)]
    assert weight_of_groups(truth, 10, 20) > 0.1


def test_a_gap_hidden_at_k_is_a_greater_risk_than_a_bell():
    """Compare the risk under the enumerated populations with that under the smooth ones."""
    selector = told(np.r_[np.full(20, 0.9), np.full(80, 0.7)], 14, Problem(100, 20, 0.05, 0.05))
    bound = selector._posterior_risk().bound
    each, known = bound.tails(0.05), ~bound.random
    risks = [np.average(each[rows], weights=bound.weight[rows]) for rows in (known, ~known)]
    assert risks[0] > risks[1]


def test_groups_that_are_hardly_apart_are_not_feared():
    found = two_group_populations(Grid(400), 100, 20)
    assert np.exp(found.log_mass).sum() == pytest.approx(1 - SMOOTH_MASS, abs=0.02)
    theta, gaps = Grid(400).theta, found.share == 0.2
    assert (theta[found.upper] - theta[found.lower])[gaps].min() >= 0.1


def test_ties_at_the_border_cost_little():
    """The pool has one star among equals, K is 5: the choice among the equals does not matter."""
    truth = np.r_[0.99, np.full(49, 0.7)]
    selector = run(truth, Problem(50, 5, 0.05, 0.05))
    assert selector.selection()[0] == 0
    assert selector.state.pulls.sum() < 2_200


# -- the least epsilon that holds


@pytest.mark.parametrize("answers", [2, 8, 30])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.5])
def test_the_epsilon_reached_is_that_of_plain_halvings(answers, delta):
    judged = told(pool(3, 40), answers, Problem(40, 8, 0.05, delta))._posterior_risk()
    low, high = (0.00005, 0.05) if judged.is_met else (0.05, 1.0)
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        within = sum(judged.risk(middle)) <= judged.delta
        low, high = (low, middle) if within else (middle, high)
    assert judged.reached == high
