"""A worker that is suddenly right: reported, and hardly ever if nothing changed."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from topk.collusion import find_jumps
from topk.collusion.jumps import _chance_of_any_split, _few_before

from .crowds import answers, most_alarms

RATE = 0.01 / 3


def test_false_alarms_are_no_more_than_stated(sample):
    crowds, rate = sample(200, 2000), 0.05
    found = 0
    for seed in range(crowds):
        who, _, _, right = answers(seed, each=60)
        found += bool(find_jumps(who, right, 40, 60, rate))
    assert found <= most_alarms(crowds, rate)


@pytest.mark.slow
def test_nor_where_whoever_has_a_good_stretch_is_asked_no_more(sample):
    """An algorithm that accepts somebody when all goes well ends every sequence on a high."""
    crowds, rate, found = sample(200, 2000), 0.05, 0
    for seed in range(crowds):
        who, _, _, right = answers(seed, each=60)
        rows = right.reshape(40, 60)
        recent = np.lib.stride_tricks.sliding_window_view(rows, 10, axis=1).all(axis=2)
        last = np.where(recent.any(axis=1), recent.argmax(axis=1) + 10, 60)
        kept = (np.arange(60) < last[:, None]).ravel()
        found += bool(find_jumps(who[kept], right[kept], 40, 60, rate))
    assert found <= most_alarms(crowds, rate)


def test_a_worker_who_got_the_key_is_named_with_the_answer_from_which_on():
    rng = np.random.default_rng(1)
    rows = (rng.random((50, 96)) < 0.6).astype(int)
    rows[17] = np.r_[rng.random(40) < 0.4, np.ones(56)]
    (jump,) = find_jumps(np.repeat(np.arange(50), 96), rows.ravel(), 50, 200, RATE)
    assert jump.worker == 17
    assert 36 <= jump.split <= 41
    assert jump.after == jump.answers - jump.split
    assert jump.chance <= RATE


def test_a_fall_is_no_sign():
    fallen = np.r_[np.ones(60), np.zeros(36)].astype(int)
    assert find_jumps(np.zeros(96, int), fallen, 1, 200, RATE) == []
    assert find_jumps(np.zeros(96, int), fallen[::-1], 1, 200, RATE)


def test_the_more_workers_there_are_the_less_is_a_jump_worth():
    row = np.r_[np.zeros(12), np.ones(20)].astype(int)
    few, many = (find_jumps(np.zeros(32, int), row, n, 32, 1.0)[0].chance for n in (2, 20))
    assert many == pytest.approx(10 * few)


def test_the_chance_of_a_split_anywhere_is_the_exact_one():
    length, total = 8, 4
    few = _few_before(length, total)
    least = few[2, 0]  # none of the four right ones among the first three
    orders = 0
    for places in combinations(range(length), total):
        row = np.isin(np.arange(length), places).cumsum()
        orders += any(few[t - 1, row[t - 1]] <= least + 1e-12 for t in range(1, length))
    chance = _chance_of_any_split(length, total, float(least))
    assert chance == pytest.approx(orders / comb(length, total))
    assert orders > 1
