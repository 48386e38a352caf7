"""Answers that are out, counted at their worst: docs/universal.md, section 3."""

import math

import numpy as np

from topk.compiled import compiled

from .certificate import Counts, Floats, Tally
from .reference import FIRST_SHARE, SHARE_STEP, Part, Reference, beta_of, is_odd, log_beta, log_odd


def worst_slices(tally: Tally, out: Counts) -> Floats:
    """Return (S,) the least that the reference measure may be once what is out is in.

    tally  of one group
    out    (n + g,) answers of the workers to choose from, then of those who were withdrawn

    More answers cannot make the likelihood of what was seen larger than it is. Each term of the
    reference measure is a product over workers, and is taken at its worst worker by worker.
    """
    known, waiting = tally.reference, np.flatnonzero(out)
    if not waiting.size:
        return known.slices
    right = np.r_[tally.right, tally.gone_right][waiting]
    wrong = np.r_[tally.wrong, tally.gone_wrong][waiting]
    unmet = int(np.count_nonzero(right + wrong == 0))
    met = Reference(tuple(part.with_met(unmet) for part in known.parts))
    return met.slices_with([_worst(part, right, wrong, out[waiting]) for part in met.parts])


def _worst(part: Part, right: Floats, wrong: Floats, out: Counts) -> Floats:
    """Return (T,) by how much the logarithm of each term of a part falls at most."""
    odd = is_odd(right, wrong, part.side)
    result: Floats = _falls(right[~odd], wrong[~odd], out[~odd], part.terms)
    for s, f, more in zip(right[odd], wrong[odd], out[odd], strict=True):
        y = np.arange(more + 1)
        after = log_odd(s + y, f + more - y, part.side).min()
        result += max(0.0, float(log_odd(s, f, part.side) - after))
    return result


@compiled
def _falls(right, wrong, out, terms):  # type: ignore[no-untyped-def]
    """Return (T,) by how much the logarithm of each term falls at most."""
    result = np.zeros(terms.shape[0])
    for t in range(result.size):
        for i in range(right.size):
            worst, before = 0.0, _log_of(right[i], wrong[i], terms[t])
            for y in range(out[i] + 1):
                after = _log_of(right[i] + y, wrong[i] + out[i] - y, terms[t])
                worst = max(worst, before - after)
            result[t] += worst
    return result


@compiled
def _log_of(s, f, term):  # type: ignore[no-untyped-def]
    """Return the log of the probability of a tally, in one order, under a term."""
    a, b = beta_of(term[0], term[1])
    one = log_beta(a + s, b + f) - log_beta(a, b)
    if term[4] < 0:
        return one
    a, b = beta_of(term[2], term[3])
    two = log_beta(a + s, b + f) - log_beta(a, b)
    share = 1 / (1 + math.exp(-(FIRST_SHARE + term[4] * SHARE_STEP)))
    most = max(one, two)
    return most + math.log(share * math.exp(one - most) + (1 - share) * math.exp(two - most))
