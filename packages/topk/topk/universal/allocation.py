"""Whom to ask next: docs/universal.md, section 5. Nothing here touches the guarantee.

The certificate falls short by log sup - log(delta Q) nats. Its derivative in the answers of a
worker of accuracy p is minus the gain

    E[kl(p, theta)] under the worst population, tilted, minus E[kl(p, theta)] under Q,

kl being the Kullback-Leibler divergence of two coins.
"""

import math

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

from .certificate import GroupBound, Tally
from .likelihood import log_likelihoods, log_or_zero, tilted
from .reference import FIRST_SHARE, SHARE_STEP, beta_of, is_odd, log_beta, odd_moments

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAST_ACCURACY, LEAST_VARIANCE = 1e-6, 1e-12
LARGEST = 4.0  # nats that an answer shows
LEAST_WEIGHT = 0.05  # of a term of Q, in parts of the largest, below which it is left out here
IN_REACH = 0.5  # of the goal
BORDERS = 201  # values of c that are tried


@compiled
def moments(right, wrong, terms, weight):  # type: ignore[no-untyped-def]
    """Return (n,) means and variances of accuracies under the terms of Q, given the answers."""
    n = right.size
    mean, square = np.zeros(n), np.zeros(n)
    least, total = LEAST_WEIGHT * weight.max(), 0.0
    for t in range(weight.size):
        if weight[t] < least:
            continue
        total += weight[t]
        for i in range(n):
            part = 1.0
            s, f = right[i], wrong[i]
            a, b = beta_of(terms[t, 0], terms[t, 1])
            if terms[t, 4] >= 0:
                other_a, other_b = beta_of(terms[t, 2], terms[t, 3])
                odds = log_beta(a + s, b + f) - log_beta(a, b)
                odds -= log_beta(other_a + s, other_b + f) - log_beta(other_a, other_b)
                odds += FIRST_SHARE + terms[t, 4] * SHARE_STEP
                part = 1 / (1 + math.exp(-odds))
                one = (other_a + s) / (other_a + other_b + s + f)
                mean[i] += weight[t] * (1 - part) * one
                square[i] += weight[t] * (1 - part) * _square(other_a + s, other_b + f)
            one = (a + s) / (a + b + s + f)
            mean[i] += weight[t] * part * one
            square[i] += weight[t] * part * _square(a + s, b + f)
    for i in range(n):
        mean[i] /= total
        square[i] = max(square[i] / total - mean[i] * mean[i], LEAST_VARIANCE)
    return mean, square


@compiled
def _square(a, b):  # type: ignore[no-untyped-def]
    """Return the mean square of a Beta distribution."""
    return a * (a + 1) / ((a + b) * (a + b + 1))


@compiled
def _gains(rows, population, grid, p, variance):  # type: ignore[no-untyped-def]
    """Return (n,) gains; rows (n, M) are the tilted likelihoods."""
    result = np.empty(p.size)
    for i in range(p.size):
        mass = total = 0.0
        for j in range(grid.size):
            part = rows[i, j] * population[j]
            if part > 0:
                good = min(math.log(p[i]) - log_or_zero(grid[j]), LARGEST)
                bad = min(math.log(1 - p[i]) - log_or_zero(1 - grid[j]), LARGEST)
                mass += part
                total += part * (p[i] * good + (1 - p[i]) * bad)
        result[i] = total / mass - variance[i] / (2 * p[i] * (1 - p[i]))
    return result


def known_of(tally: Tally) -> tuple[Floats, Floats]:
    """Return (n,) means and variances of accuracies under Q, given the answers."""
    known, questions = tally.reference.likeliest, tally.questions
    mean, variance = moments(tally.right, tally.wrong, known.terms, known.weight)
    odd = is_odd(tally.right, tally.wrong, known.side)
    mean[odd], variance[odd] = odd_moments(tally.right[odd], tally.wrong[odd], known.side)
    if questions:  # what is not asked yet is like the answers to come
        left = questions - tally.right - tally.wrong
        noise = left * np.maximum(mean * (1 - mean) - variance, 0.0)
        variance = np.maximum((left**2 * variance + noise) / questions**2, LEAST_VARIANCE)
        mean = (tally.right + left * mean) / questions
    return mean, variance


def gains(
    tally: Tally, known: tuple[Floats, Floats], chosen: NDArray[np.bool_], bound: GroupBound
) -> Floats:
    """Return (n,) how many nats an answer of each worker of a group is foreseen to bring.

    known  (n,) means and variances of accuracies under Q
    """
    mean, variance = known
    logs = log_likelihoods(tally.right, tally.wrong, bound.grid, tally.questions)
    rows, scale = np.empty_like(logs), np.empty(mean.size)
    tilted(logs, chosen.astype(np.int64), bound.grid, bound.lam, bound.c, rows, scale)
    p = np.clip(mean, LEAST_ACCURACY, 1 - LEAST_ACCURACY)
    result: Floats = _gains(rows, bound.population, bound.grid, p, variance)
    return result


def borders(mean: Floats, chosen: NDArray[np.bool_], goal: float) -> tuple[float, float]:
    """Return the least and the largest c at which the goal is in reach.

    With c outside, the best bound now may be one that more answers cannot bring to the goal:
    workers with so large means would exceed it, however well they were known.
    """

    def loss_at(c: Floats) -> Floats:
        inside = np.maximum(c[:, None] - mean[chosen], 0.0).sum(1)
        result: Floats = inside + np.maximum(mean[~chosen] - c[:, None], 0.0).sum(1)
        return result

    points = np.linspace(0.0, 1.0, BORDERS)
    losses = loss_at(points)
    near = points[losses <= max(IN_REACH * goal, float(losses.min()))]
    return float(near.min()), float(near.max())
