"""Crowds without any sharing: questions are hard or easy, wrong answers tempting."""

import numpy as np


def answers(seed, workers=40, questions=60, each=40, choices=4):
    """Return (workers, questions, answers, right), each (a,), in the order asked.

    Wrong answers are numbered from 0, and some tempt more than others; right ones mean nothing.
    """
    rng = np.random.default_rng(seed)
    tempting = rng.dirichlet(np.ones(choices - 1), questions).cumsum(axis=1)
    hard, able = rng.normal(0, 1, questions), rng.normal(0.8, 0.7, workers)
    who = np.repeat(np.arange(workers), each)
    asked = np.concatenate([rng.permutation(questions)[:each] for _ in range(workers)])
    right = rng.random(who.size) < 1 / (1 + np.exp(hard[asked] - able[who]))
    said = (rng.random(who.size)[:, None] > tempting[asked]).sum(axis=1)
    return who, asked, said, right


def seconds(seed, who, asked, between=0.45, within=0.6):
    """(a,) times to answer, lognormal by worker and question."""
    rng = np.random.default_rng([seed, 1])
    people = rng.normal(0, between, who.max() + 1)
    long = rng.normal(2.5, 0.6, asked.max() + 1)
    return np.exp(people[who] + long[asked] + rng.normal(0, within, who.size))


def some(seed, who):
    """(a,) which answers there are, where some workers gave many and others few."""
    rng = np.random.default_rng([seed, 2])
    return rng.random(who.size) < rng.uniform(0.3, 1, who.max() + 1)[who]


def most_alarms(crowds, rate):
    """Return a number of false alarms that fewer than one study of 1,000 exceeds at the stated
    rate.
    """
    chances = np.random.default_rng(0).binomial(crowds, rate, 100_000)
    return int(np.quantile(chances, 0.999))
