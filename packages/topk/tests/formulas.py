"""Confidence radii and sequences as the papers write them, to compare the kernels with.

Each takes pulls (n,) and gives (n,). The half inside each root is Hoeffding's: a reward in [0, 1]
is 1/2-sub-Gaussian. An arm without a pull has an infinite radius.
"""

import math

import numpy as np


def hoeffding(pulls, log_term):
    """sqrt(log_term / (2 pulls)): a mean strays this far on one side with probability e^-log_term.

    Hoeffding, Probability inequalities for sums of bounded random variables (1963), theorem 2.
    """
    with np.errstate(divide="ignore"):
        return np.sqrt(log_term / (2 * pulls))


def lucb_log(n, t, delta):
    """ln(k1 n t^4 / delta), k1 = 5/4 (Kalyanakrishnan et al. 2012, section 3.1)."""
    return math.log(1.25 * n * t**4 / delta)


def ugape_log(n, pulled, delta):
    """ln(4 n (t-1)^3 / delta) after ``pulled`` = t - 1 pulls (Gabillon et al. 2012, section 3).

    CLUCB's is the same, its t being the pulls made (Chen et al. 2014, Algorithm 1).
    """
    return math.log(4 * n * pulled**3 / delta)


def kl_lucb_log(n, t, delta):
    """z + ln z, z = ln(k1 n t^1.1 / delta), k1 = 405.5 (Kaufmann, Kalyanakrishnan 2013)."""
    z = math.log(405.5 * n * t**1.1 / delta)
    return z + math.log(z)


def bernstein(pulls, variance, log_term):
    """sqrt(2 V x / T) + 7 x / (3 (T-1)), V unbiased; each side fails with probability 2 e^-x.

    Maurer, Pontil: Empirical Bernstein bounds, COLT 2009. Needs two pulls.
    """
    return np.sqrt(2 * variance * log_term / pulls) + 7 * log_term / (3 * (pulls - 1))


def lil(pulls, w, growth):
    """(1 + sqrt e) sqrt((1 + e) ln(ln((1+e) T + 2) / w) / (2T)), for all T on one side.

    Jamieson et al. 2014, with the +2 of Jiang et al. 2017, section 5, which keeps the inner
    logarithm positive. Fails with probability at most ``lil_failure(growth) w^(1+e)`` for e in
    (0, 1) and w < ln(1+e) / exp(1).
    """
    inner = np.log(np.log((1 + growth) * pulls + 2) / w)
    radius = np.sqrt((1 + growth) * inner / (2 * pulls))
    return (1 + math.sqrt(growth)) * radius


def beta_binomial_excludes(sums, pulls, p, alpha):
    """Return (n,) True if p is outside the uniform-mixture confidence sequence, two sides, all T.

    T d(m, p) >= ln(1/alpha) + ln((T+1) C(T, S) m^S (1-m)^(T-S)) (Robbins 1970). Sums need not be
    whole numbers.
    """
    failed = pulls - sums
    mixture = _log_gamma(sums + 1) + _log_gamma(failed + 1) - _log_gamma(pulls + 2.0)
    null = sums * math.log(p) + failed * math.log1p(-p)
    return np.asarray(mixture - null >= math.log(1 / alpha))


def divergence(p, q):
    """d(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)), 0 ln 0 = 0."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(p > 0, p * np.log(p / q), 0.0)
        other = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return one + other


_log_gamma = np.vectorize(math.lgamma, otypes=[float])
