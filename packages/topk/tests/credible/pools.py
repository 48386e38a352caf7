"""Pools of workers for the tests of `credible`, and selectors that have seen or played them."""

import numpy as np

from topk import Problem
from topk.credible.selector import Credible


class Cautious(Credible):
    """As in every pool of several hundred."""

    _cautious = True


def pool(seed, n=40, a=6.0, b=2.0):
    """True accuracies of a Beta pool."""
    return np.random.default_rng([seed, 1]).beta(a, b, n)


def told(truth, answers, problem=None, seed=0, kind=Credible, **options):
    """A selector that has seen so many answers of each worker."""
    truth = np.asarray(truth, float)
    answers = np.broadcast_to(answers, truth.shape)
    right = np.random.default_rng([seed, 2]).binomial(answers, truth)
    selector = kind(problem or Problem(truth.size, truth.size // 5, 0.05, 0.05), **options)
    selector.tell(np.arange(truth.size), right.astype(float), answers)
    return selector


def run(truth, problem, seed=0, slots=None, kind=Credible, **options):
    """Played to its end, at most so many answers at a time."""
    selector, rng = kind(problem, **options), np.random.default_rng([seed, 3])
    while not selector.stop():
        counts = selector.ask(slots, rng=rng)
        arms = np.flatnonzero(counts)
        selector.tell(arms, rng.binomial(counts[arms], truth[arms]).astype(float), counts[arms])
    return selector


def regret(truth, selector):
    chosen = selector.selection()
    return np.sort(truth)[-chosen.size :].mean() - truth[chosen].mean()
