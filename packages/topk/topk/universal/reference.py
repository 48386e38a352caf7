"""The reference measure Q: a mixture over populations, fixed before the run (docs/universal.md, 4).

A population is a Beta distribution, or a mixture of two. Their parameters lie on lattices with a
prior weight at every point. Any part of the sum over the lattice is at most Q, so that only what
matters is added up: from a climb to the largest term, and its neighbours as far as they count.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy  # it loads special at first use
from numpy.typing import NDArray

from topk.compiled import compiled

Floats = NDArray[np.float64]

# Of a Beta distribution: the logit of its mean, and the logarithm of its concentration a + b.
MEANS, FIRST_MEAN, MEAN_STEP = 181, -4.0, 0.05
WIDTHS, FIRST_WIDTH, WIDTH_STEP = 24, -0.5, 0.35
CENTRE, SPREAD = 1.1, 1.0  # of the prior of means
TYPICAL, RANGE = 2.1, 1.0  # of the prior of the logarithm of the concentration
NARROW, NARROW_RANGE = 4.0, 2.0  # the same where there are two, but for the part that
POINTS = 0.6  # has the narrowest, as good as points
SHARES, FIRST_SHARE, SHARE_STEP = 25, -4.8, 0.4  # logits of the share of the first of two
EVEN, EVEN_RANGE = 0.0, 2.5
FLAT = 0.1  # part of each prior that is even over the lattice
LOG_ONE, LOG_TWO = math.log(0.62), math.log(0.38)  # of one distribution, of two

# A population is compared with the whole mixture, with the part that has about its mean, and with a
# wider part around that: at a node with that node's parts, and in between with a mixture of the
# parts of both neighbours.
LOG_WHOLE = math.log(0.15)
WINDOWS = ((0.5, 1.0), (0.35, 4.0))  # weight, and width in nodes
NODES = np.r_[0.0, 1 / (1 + np.exp(-(FIRST_MEAN + np.arange(MEANS) * MEAN_STEP))), 1.0]
EDGES = 0.5 * (NODES[:-1] + NODES[1:])

COUNTS = 5.0  # nats below the largest term at which terms are left out
MOST_TERMS = 1200
SLOTS = 32768  # of the table of terms that were seen; a power of 2
SMALL = 1e-200  # a product of probabilities that takes no more factors
STARTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9])
CLIMBS = 2


def _prior(size: int, first: float, step: float, centre: float, spread: float) -> Floats:
    """Return (size,) logs of weights that sum to 1: a normal prior, and a part that is even."""
    density = np.exp(-0.5 * ((first + step * np.arange(size) - centre) / spread) ** 2)
    result: Floats = np.log((1 - FLAT) * density / density.sum() + FLAT / size)
    return result


MEAN_PRIOR = _prior(MEANS, FIRST_MEAN, MEAN_STEP, CENTRE, SPREAD)
WIDTH_PRIOR = _prior(WIDTHS, FIRST_WIDTH, WIDTH_STEP, TYPICAL, RANGE)
PAIR_PRIOR = _prior(WIDTHS, FIRST_WIDTH, WIDTH_STEP, NARROW, NARROW_RANGE) + math.log(1 - POINTS)
PAIR_PRIOR[-1] = np.logaddexp(PAIR_PRIOR[-1], math.log(POINTS))
SHARE_PRIOR = _prior(SHARES, FIRST_SHARE, SHARE_STEP, EVEN, EVEN_RANGE)

# Besides these populations there may be workers who are always wrong, or always right (exactly, or
# nearly: Beta(1, NEAR) from there), on a lattice of logits of their share.
SIDES = {0: 0.62, -1: 0.34, 1: 0.04}
LOG_SIDES = {side: math.log(weight) for side, weight in SIDES.items()}
EXACT, NEAR = 0.5, 40.0
ODD = 0.06  # share of the other answers below which a worker is taken as odd
FIRST_ODD, ODD_STEP, ODDS = -7.0, 0.5, 15
ODD_SHARES = 1 / (1 + np.exp(-(FIRST_ODD + ODD_STEP * np.arange(ODDS))))
ODD_PRIOR = _prior(ODDS, FIRST_ODD, ODD_STEP, -2.5, 1.3)


@dataclass(frozen=True)
class Part:
    """A kind of populations of the reference measure, as the terms of its sum.

    side    0: no worker is odd; -1: some are always wrong, or nearly; 1: always right, or nearly
    log_q   the logarithm of its sum over the terms, or less
    terms   (T, 5) int64, lattice points of the terms: mean and width of the first and the second
            distribution, and the share of the first; one distribution has the share -1
    weight  (T,) the terms' parts of the sum, which add up to 1
    shares  (U,) the same of the share of odd workers, ODD_SHARES
    """

    side: int
    log_q: float
    terms: NDArray[np.int64]
    weight: Floats
    shares: Floats

    def with_met(self, count: int) -> "Part":
        """Return this part once so many more workers have answers: none of them is odd."""
        if not (self.side and count):
            return self
        with np.errstate(divide="ignore"):
            shares = np.log(self.shares) + count * np.log1p(-ODD_SHARES)
        whole = float(np.logaddexp.reduce(shares))
        return replace(self, log_q=self.log_q + whole, shares=np.exp(shares - whole))

    def slices_with(self, fall: Floats) -> Floats:
        """Return (S,) ``slices`` of this part where the logarithm of each term (T,) has fallen.

        By Jensen's inequality a sum of terms falls by no more than its terms do on average.
        """
        whole = self.log_q - float(self.weight @ fall)
        node = _node_of(_mean_of(self.terms))
        sums = [np.bincount(node, self.weight * each, NODES.size) for each in (np.ones(1), fall)]
        if self.side:
            sums = [_with_odd(self.side, self.shares, each) for each in sums]
        weight, window, mass = _windows(self.side)
        part, fallen = (window @ np.array(sums).T).T.reshape(2, -1, NODES.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.log(part) + self.log_q - mass - np.nan_to_num(fallen / part)
        alone = np.vstack([alone + weight, np.full(NODES.size, LOG_WHOLE + whole)])
        result: Floats = np.logaddexp.reduce(alone, axis=0)
        return result + LOG_SIDES[self.side]


@dataclass(frozen=True)
class Reference:
    """The reference measure; its parts of all sides that matter."""

    parts: tuple[Part, ...]

    @property
    def log_q(self) -> float:
        """The logarithm of the whole, or less."""
        return float(
            np.logaddexp.reduce([part.log_q + LOG_SIDES[part.side] for part in self.parts])
        )

    @cached_property
    def slices(self) -> Floats:
        """(S,) logarithms of the reference measure for populations with the mean NODES, or less."""
        return self.slices_with([np.zeros(part.weight.size) for part in self.parts])

    def slices_with(self, falls: Sequence[Floats]) -> Floats:
        """Return (S,) ``slices`` where the logarithm of each term of each part has fallen so."""
        each = [part.slices_with(fall) for part, fall in zip(self.parts, falls, strict=True)]
        result: Floats = np.logaddexp.reduce(each, axis=0)
        return result

    @property
    def likeliest(self) -> Part:
        return max(self.parts, key=lambda part: part.log_q + LOG_SIDES[part.side])


def is_odd(right: Floats, wrong: Floats, side: int) -> NDArray[np.bool_]:
    """Return True for workers who are taken as odd where there are such."""
    few = right if side < 0 else wrong
    result: NDArray[np.bool_] = (few + 0.5 < ODD * (right + wrong + 1)) & (side != 0)
    return result


def log_odd(right: Any, wrong: Any, side: int) -> Any:
    """Return the log of the probability of tallies of odd workers, each in one order."""
    few, many = (right, wrong) if side < 0 else (wrong, right)
    log_beta = scipy.special.betaln
    near = log_beta(1 + few, NEAR + many) - log_beta(1, NEAR)
    return np.logaddexp(np.where(few == 0, math.log(EXACT), -np.inf), math.log(1 - EXACT) + near)


def odd_moments(right: Floats, wrong: Floats, side: int) -> tuple[Floats, Floats]:
    """Return means and variances of odd workers' accuracies, given their answers."""
    few, many = (right, wrong) if side < 0 else (wrong, right)
    a, size = 1 + few, 1 + NEAR + few + many
    exact = np.where(few == 0, EXACT * np.exp(-log_odd(right, wrong, side)), 0.0)
    mean, square = (1 - exact) * a / size, (1 - exact) * a * (a + 1) / (size * (size + 1))
    return mean if side < 0 else 1 - mean, square - mean * mean


def reference(right: Floats, wrong: Floats, workers: Floats) -> Reference:
    """Return Q of answers, given (G,) tallies and how many workers have each.

    The binomial coefficients are left out, as in the likelihood: Q is of answers in their order.
    """
    rows, known = np.empty((MEANS * WIDTHS, right.size)), np.zeros(MEANS * WIDTHS, np.bool_)
    shared = (rows, known, (MEAN_PRIOR, WIDTH_PRIOR, PAIR_PRIOR, SHARE_PRIOR))
    plain, parts = _terms((right, wrong, workers), *shared), []
    for side in SIDES:
        odd = is_odd(right, wrong, side)
        others = np.where(odd, 0.0, workers)
        found = _terms((right, wrong, others), *shared) if odd.any() else plain
        parts.append(_part((right, wrong, workers), side, odd, *found))
    return Reference(tuple(parts))


def _part(
    tallies: tuple[Floats, Floats, Floats],
    side: int,
    odd: NDArray[np.bool_],
    terms: NDArray[np.int64],
    logs: Floats,
) -> Part:
    """Return the part of one side: in all of its terms just these workers are odd."""
    right, wrong, workers = tallies
    log_q = float(np.logaddexp.reduce(logs))
    weight, shares = np.exp(logs - log_q), np.ones(1)
    if side:
        met = (right + wrong > 0) & ~odd
        share = ODD_PRIOR + workers[odd].sum() * np.log(ODD_SHARES)
        share += workers[met].sum() * np.log1p(-ODD_SHARES)
        log_q += float(np.logaddexp.reduce(share))
        log_q += float(workers[odd] @ log_odd(right[odd], wrong[odd], side))
        shares = np.exp(share - np.logaddexp.reduce(share))
    return Part(side, log_q, terms, weight, shares)


def _with_odd(side: int, shares: Floats, of: Any) -> Any:
    """Return what of each node (S,) is where a share of the workers is odd.

    A population is counted to the node nearest to the mean of the node of the others with them.
    """
    each = (shares[:, None] * of).ravel()
    return np.bincount(_odd_nodes(side), each, NODES.size)


@lru_cache(2)
def _odd_nodes(side: int) -> NDArray[np.int64]:
    """Return (U * S,) the node of each share of odd workers and each node of the others."""
    mean = (1 - ODD_SHARES[:, None]) * NODES + ODD_SHARES[:, None] * (side > 0)
    return _node_of(mean).ravel()


def _mean_of(terms: NDArray[np.int64]) -> Floats:
    """Return (T,) means of the populations of these terms."""
    means, share = _logistic(FIRST_MEAN + terms[:, [0, 2]] * MEAN_STEP), terms[:, 4]
    first = np.where(share < 0, 1.0, _logistic(FIRST_SHARE + share * SHARE_STEP))
    result: Floats = first * means[:, 0] + (1 - first) * means[:, 1]
    return result


def _logistic(x: NDArray[Any]) -> Floats:
    result: Floats = 1 / (1 + np.exp(-x))
    return result


def _node_of(mean: Floats) -> NDArray[np.int64]:
    """Return (T,) the node that each mean is counted to, never the first or the last."""
    result: NDArray[np.int64] = np.clip(np.searchsorted(EDGES, mean), 1, NODES.size - 2)
    return result


@lru_cache(3)
def _windows(side: int) -> tuple[Floats, Floats, Floats]:
    """Return the parts that a population is compared with.

    These are (W, 1) logs of their weights, (W * S, S) weights of nodes around each, and (W, S)
    logs of the prior weight of it all.
    """
    first, second, share = (
        axis.ravel() for axis in np.meshgrid(np.arange(MEANS), np.arange(MEANS), np.arange(SHARES))
    )
    none = np.zeros_like(share)
    pairs = np.stack([first, none, second, none, share], axis=1)
    weight = np.exp(MEAN_PRIOR[first] + MEAN_PRIOR[second] + SHARE_PRIOR[share] + LOG_TWO)
    mass = np.bincount(_node_of(_mean_of(pairs)), weight, NODES.size)
    alone = np.arange(MEANS)
    ones = np.stack([alone, alone, alone, alone, np.full(MEANS, -1)], axis=1)
    mass += np.bincount(_node_of(_mean_of(ones)), np.exp(MEAN_PRIOR + LOG_ONE), NODES.size)
    if side:
        mass = _with_odd(side, np.exp(ODD_PRIOR), mass)
    apart = np.subtract.outer(np.arange(NODES.size), np.arange(NODES.size))
    weights, widths = (np.array(each)[:, None] for each in zip(*WINDOWS, strict=True))
    window = np.exp(-0.5 * (apart / widths[:, None]) ** 2).reshape(-1, NODES.size)
    return np.log(weights), window, np.log(window @ mass).reshape(-1, NODES.size)


@compiled
def beta_of(mean, width):  # type: ignore[no-untyped-def]
    """Return a and b of the Beta distribution at a lattice point."""
    p = 1 / (1 + math.exp(-(FIRST_MEAN + mean * MEAN_STEP)))
    size = math.exp(FIRST_WIDTH + width * WIDTH_STEP)
    return p * size, (1 - p) * size


@compiled
def log_beta(a, b):  # type: ignore[no-untyped-def]
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@compiled
def _beta(right, wrong, mean, width, result):  # type: ignore[no-untyped-def]
    """Fill result (G,) with the log of each tally's probability under a Beta distribution."""
    a, b = beta_of(mean, width)
    constant = log_beta(a, b)
    for g in range(right.size):
        result[g] = log_beta(a + right[g], b + wrong[g]) - constant


@compiled
def _row(tallies, rows, known, mean, width):  # type: ignore[no-untyped-def]
    at = mean * WIDTHS + width
    if not known[at]:
        _beta(tallies[0], tallies[1], mean, width, rows[at])
        known[at] = True
    return rows[at]


@compiled
def _logit(share):  # type: ignore[no-untyped-def]
    return FIRST_SHARE + share * SHARE_STEP


@compiled
def _inside(term):  # type: ignore[no-untyped-def]
    """Whether a term lies on the lattice; distributions of two have every other width."""
    if not (0 <= term[0] < MEANS and 0 <= term[1] < WIDTHS):
        return False
    if term[4] < 0:
        return True
    even = term[1] % 2 == 0 and term[3] % 2 == 0
    return even and 0 <= term[2] < MEANS and 0 <= term[3] < WIDTHS and term[4] < SHARES


@compiled
def _log_term(term, tallies, rows, known, priors):  # type: ignore[no-untyped-def]
    """Return the log of one term of Q: prior weight times probability."""
    workers, total = tallies[2], 0.0
    one = _row(tallies, rows, known, term[0], term[1])
    if term[4] < 0:
        for g in range(workers.size):
            total += workers[g] * one[g]
        return total + LOG_ONE + priors[0][term[0]] + priors[1][term[1]]
    two = _row(tallies, rows, known, term[2], term[3])
    share = 1 / (1 + math.exp(-_logit(term[4])))
    product = 1.0  # of factors of single workers: one logarithm for many
    for g in range(workers.size):
        total += workers[g] * max(one[g], two[g])
        most = share if one[g] >= two[g] else 1 - share
        mixed = most + (1 - most) * math.exp(-abs(one[g] - two[g]))
        if workers[g] == 1 and product > SMALL:
            product *= mixed
        elif workers[g] > 0:
            total += workers[g] * math.log(mixed)
    total += math.log(product)
    total += priors[0][term[0]] + priors[0][term[2]] + priors[3][term[4]] + LOG_TWO
    # Every other width is used, so that a pair of neighbours' prior weight goes to one of them.
    for width in (term[1], term[3]):
        total += math.log(math.exp(priors[2][width]) + math.exp(priors[2][width + 1]))
    return total


@compiled
def _climb(term, tallies, rows, known, priors):  # type: ignore[no-untyped-def]
    """Move a term to a local maximum along its coordinates; return its logarithm."""
    best, moved = _log_term(term, tallies, rows, known, priors), True
    last = 2 if term[4] < 0 else 5
    while moved:
        moved = False
        for axis in range(last):
            unit = 2 if last == 5 and axis in (1, 3) else 1
            for step in (4 * unit, -4 * unit, unit, -unit):
                while True:
                    term[axis] += step
                    tried = -np.inf
                    if term[axis] >= 0 and _inside(term):
                        tried = _log_term(term, tallies, rows, known, priors)
                    if tried <= best:
                        term[axis] -= step
                        break
                    best, moved = tried, True
    return best


@compiled
def _seen_before(term, table):  # type: ignore[no-untyped-def]
    """Put a term into the table of those that were seen; return whether it was there."""
    key = np.int64(0)
    for axis in range(5):
        key = key * 256 + term[axis] + 1
    at = (key * 2654435761) & (SLOTS - 1)
    while table[at] != 0:
        if table[at] == key:
            return True
        at = (at + 1) & (SLOTS - 1)
    table[at] = key
    return False


@compiled
def _flood(start, level, tallies, rows, known, priors, terms, logs, count):  # type: ignore[no-untyped-def]
    """Add the terms around the start of at least ``level``; return the new number of terms."""
    table = np.zeros(SLOTS, np.int64)
    _seen_before(start, table)
    first, at = count, count
    terms[count], logs[count] = start, _log_term(start, tallies, rows, known, priors)
    count += 1
    last = 2 if start[4] < 0 else 5
    term = np.empty(5, np.int64)
    while at < count and count - first < MOST_TERMS:
        for axis in range(last):
            unit = 2 if last == 5 and axis in (1, 3) else 1
            for step in (unit, -unit):
                for i in range(5):
                    term[i] = terms[at, i]
                term[axis] += step
                if term[axis] < 0 or not _inside(term) or _seen_before(term, table):
                    continue
                value = _log_term(term, tallies, rows, known, priors)
                if value >= level and count - first < MOST_TERMS:
                    for i in range(5):
                        terms[count, i] = term[i]
                    logs[count] = value
                    count += 1
        at += 1
    return count


@compiled
def _nearest(p, first, step, size):  # type: ignore[no-untyped-def]
    p = min(max(p, 1e-4), 1 - 1e-4)
    return min(max(round((math.log(p / (1 - p)) - first) / step), 0), size - 1)


@compiled
def _pair(order, tallies, share, width, term):  # type: ignore[no-untyped-def]
    """Fill term with two groups: so large a share of the workers that look best, and the rest."""
    right, wrong, workers = tallies
    goal, seen = share * workers.sum(), 0.0
    sums = np.zeros((2, 2))
    for g in order:
        side = 0 if seen < goal else 1
        seen += workers[g]
        sums[side, 0] += workers[g] * right[g]
        sums[side, 1] += workers[g] * (right[g] + wrong[g])
    for side in range(2):
        p = (sums[side, 0] + 0.5) / (sums[side, 1] + 1)
        term[2 * side] = _nearest(p, FIRST_MEAN, MEAN_STEP, MEANS)
        term[2 * side + 1] = width
    term[4] = _nearest(share, FIRST_SHARE, SHARE_STEP, SHARES)


@compiled
def _terms(tallies, rows, known, priors):  # type: ignore[no-untyped-def]
    """Return (T, 5) terms that matter, and their logarithms (T,)."""
    right, wrong, workers = tallies
    terms, logs = np.empty((2 * MOST_TERMS, 5), np.int64), np.empty(2 * MOST_TERMS)
    p = ((workers * right).sum() + 1) / ((workers * (right + wrong)).sum() + 2)
    term = np.array([_nearest(p, FIRST_MEAN, MEAN_STEP, MEANS), 7, -1, -1, -1])
    best = _climb(term, tallies, rows, known, priors)
    count = _flood(term, best - COUNTS, tallies, rows, known, priors, terms, logs, 0)
    order = np.argsort(-(right + 1) / (right + wrong + 2))
    starts, values = np.empty((2 * STARTS.size, 5), np.int64), np.empty(2 * STARTS.size)
    for i in range(values.size):
        _pair(order, tallies, STARTS[i // 2], 8 if i % 2 else 22, starts[i])
        values[i] = _log_term(starts[i], tallies, rows, known, priors)
    top, pair = -np.inf, starts[0]
    for i in np.argsort(-values)[:CLIMBS]:
        value = _climb(starts[i], tallies, rows, known, priors)
        if value > top:
            top, pair = value, starts[i]
    if top > best - COUNTS:
        level = max(top, best) - COUNTS
        count = _flood(pair, level, tallies, rows, known, priors, terms, logs, count)
    return terms[:count], logs[:count]
