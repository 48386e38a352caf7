"""Answers that are out, counted at their worst: docs/universal.md, section 3."""

import math

import numpy as np

from topk.compiling import compiled

from .allocation import beta_of, log_beta
from .certificate import Counts, Tally
from .reference import FIRST_SHARE, SHARE_STEP

LEAST_WEIGHT = 1e-3


def worst_outstanding(tally: Tally, out: Counts) -> float:
    """Return by how many nats the answers that are out (n,) can worsen the certificate, at most.

    More answers cannot make the likelihood of what was seen larger than it is. By Jensen's
    inequality the logarithm of Q falls by no more than the mean, over its terms, of the logarithms
    of what each makes of the answers, worker by worker.
    """
    known = tally.reference
    kept = known.weight >= LEAST_WEIGHT
    mass = float(known.weight[kept].sum())
    waiting = np.flatnonzero(out)
    right, wrong, more = tally.right[waiting], tally.wrong[waiting], out[waiting]
    total = _worst(right, wrong, more, known.terms[kept], known.weight[kept] / mass)
    return float(total) - math.log(mass)


@compiled
def _worst(right, wrong, out, terms, weight):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(right.size):
        worst = 0.0
        for y in range(out[i] + 1):
            mean = 0.0
            for t in range(weight.size):
                mean += weight[t] * _log_next(right[i], wrong[i], y, out[i] - y, terms[t])
            worst = max(worst, -mean)
        total += worst
    return total


@compiled
def _log_next(s, f, more_right, more_wrong, term):  # type: ignore[no-untyped-def]
    """Return the log of the probability of these next answers, in one order, under a term of Q."""
    after, before = _log_both(s + more_right, f + more_wrong, term), _log_both(s, f, term)
    return after - before


@compiled
def _log_both(s, f, term):  # type: ignore[no-untyped-def]
    a, b = beta_of(term[0], term[1])
    one = log_beta(a + s, b + f) - log_beta(a, b)
    if term[4] < 0:
        return one
    a, b = beta_of(term[2], term[3])
    two = log_beta(a + s, b + f) - log_beta(a, b)
    share = 1 / (1 + math.exp(-(FIRST_SHARE + term[4] * SHARE_STEP)))
    most = max(one, two)
    return most + math.log(share * math.exp(one - most) + (1 - share) * math.exp(two - most))
