"""Answers that are out count at their worst: docs/certified.md, section 3, Lemma 3."""

import math
from itertools import product

import numpy as np
import pytest

from tests.topk.harness import too_many
from topk import Problem
from topk.best_sets import Quotas
from topk.certified.certificate import Certificate, Tally
from topk.certified.designs import KINDS, nearest_threshold, scale_of, threshold_accuracy
from topk.certified.selector import THIS_SET, Certified
from topk.certified.supermartingales import price_tables

kinds = pytest.mark.parametrize("kind", range(len(KINDS)))
# Prices are kept to seven places, and rounded up.
LAST_PLACE = 1e-6


def table_of(h, accuracy, kind, questions=0):
    number = nearest_threshold(h, accuracy)
    return price_tables(h, number, number, kind, questions)


def every_state(h):
    pulls, right = np.tril_indices(h)
    return pulls.astype(np.int64), right.astype(np.int64)


@kinds
@pytest.mark.parametrize(("h", "questions"), [(23, 0), (107, 0), (260, 0), (23, 40), (23, 23)])
@pytest.mark.parametrize("accuracy", [0.3, 0.8])
def test_one_answer_out_makes_no_price_smaller(h, accuracy, kind, questions):
    """Then no number of them does: a worker that is asked on is charged at least its worth."""
    table = table_of(h, accuracy, kind, questions)
    pulls, right = every_state(h)
    one = np.ones(pulls.size, np.int64)
    for chosen in (one == 1, one == 0):
        now, worst = (table.look_up(chosen, pulls, right, out) for out in (None, one))
        assert (worst >= now - LAST_PLACE).all()
        assert worst.sum() > now.sum()


def test_the_worst_is_the_largest_of_all_that_may_come():
    table, rng = table_of(35, 0.7, 2), np.random.default_rng(4)
    pulls = rng.integers(0, 30, 50)
    right, out, chosen = rng.binomial(pulls, 0.7), rng.integers(0, 6, 50), rng.random(50) < 0.5
    found = table.look_up(chosen, pulls, right, out)
    for i in range(50):
        ways = np.arange(right[i], right[i] + out[i] + 1)
        asked = np.full(ways.size, pulls[i] + out[i])
        assert found[i] == table.look_up(np.full(ways.size, chosen[i]), asked, ways).max()


def log_factors(h, accuracy, kind, theta):
    """(h + 1, h + 1) ln of the least factor that the prices of a design allow."""
    number = nearest_threshold(h, accuracy)
    c, t, table = (
        threshold_accuracy(h, number),
        scale_of(h, number, kind),
        table_of(h, accuracy, kind),
    )
    value = np.ones((h + 1, h + 1))
    for m in range(h, -1, -1):
        s = np.arange(m + 1)
        place = m * (m + 1) // 2 + s
        inside, outside = max(c - theta, 0), max(theta - c, 0)
        pays = np.maximum(inside - table.inside[place], outside - table.outside[place])
        value[m, : m + 1] = np.exp(t * pays)
        if m < h:
            on = (1 - theta) * value[m + 1, : m + 1] + theta * value[m + 1, 1 : m + 2]
            value[m, : m + 1] = np.maximum(value[m, : m + 1], on)
    return np.log(value / value[0, 0])


@kinds
def test_a_crowd_that_holds_back_what_lowers_a_factor_breaks_the_event_only_as_counted(kind):
    """All workers are asked h answers at once, and show the prefix that is best for them."""
    h, theta, n, runs, delta = 23, 0.5, 60, 200, 0.1
    logs, rng = log_factors(h, 0.5, kind, theta), np.random.default_rng(6)
    right = np.zeros((runs * n, h + 1), np.int64)
    right[:, 1:] = np.cumsum(rng.random((runs * n, h)) < theta, axis=1)
    path = logs[np.arange(h + 1), right]
    seen = path.argmax(axis=1)
    counted = path.max(axis=1).reshape(runs, n).sum(axis=1)
    # Of each, the least factor that what is out may still lead to.
    last = np.array([logs[h, s : s + h - m + 1].min() for m in range(h + 1) for s in range(m + 1)])
    worst = last[seen * (seen + 1) // 2 + right[np.arange(runs * n), seen]]
    assert (worst <= path[:, -1]).all()
    over = math.log(1 / delta)
    assert (counted > over).mean() > 0.5
    assert not too_many(int((path[:, -1].reshape(runs, n).sum(axis=1) > over).sum()), runs, delta)
    assert (worst.reshape(runs, n).sum(axis=1) <= over).all()


def test_however_the_answers_that_are_out_turn_out_the_bound_was_no_smaller():
    problem = Problem(3, 1, 0.3, 0.2)
    quotas = Quotas(3, 1, {"groups": [0] * 3, "at_least": [1], "at_most": [1]})
    certificate, chosen = Certificate(problem, quotas, 0), np.array([True, False, False])
    pulls, right, out = np.array([9, 8, 10]), np.array([8, 4, 3]), np.array([2, 0, 3])
    means = right / pulls
    for design in certificate.designs(4, chosen, means, Tally(pulls, right, out)):
        ends = [
            certificate.recompute(design, chosen, Tally(pulls + out, right + np.array(more))).total
            for more in product(*(range(o + 1) for o in out))
        ]
        assert design.total == pytest.approx(max(ends))


def near_the_end(seed=1):
    """A selector that has just stopped, and one that got the same answers but for the last few."""
    truth, rng = np.array([0.95, 0.9, 0.85, 0.3, 0.2, 0.15, 0.1, 0.1]), np.random.default_rng(seed)
    selector = Certified(Problem(8, 3, 0.2, 0.1))
    while not selector.stop():
        counts = selector.ask(2)
        selector.tell(np.arange(8), rng.binomial(counts, truth), counts)
    return selector


def test_what_is_out_keeps_it_from_stopping_until_it_is_in():
    selector = near_the_end()
    gap = selector.standing().gap
    out = np.array([3, 3, 3, 0, 0, 0, 0, 0])
    selector.wait_for(out)
    assert not selector.stop()
    assert selector.standing().gap > selector.problem.epsilon >= gap
    assert selector.is_held_up()
    assert not selector.ask(40, out).any()
    # As if alone, where those who hold it have been silent for too long: others are asked on.
    others = np.where(out > 0, 0, 9)
    assert selector.ask(40, np.zeros(8, int), others).any()
    selector.tell([0, 1, 2], [3, 3, 3], [3, 3, 3])
    assert not selector.state.out.any()
    assert not selector.is_held_up()
    assert selector.stop()


def test_it_goes_on_asking_where_more_than_what_is_out_keeps_it_from_stopping():
    selector = Certified(Problem(8, 3, 0.2, 0.1))
    selector.tell(np.arange(8), [4, 4, 3, 1, 0, 1, 1, 0], np.full(8, 4))
    selector.wait_for(np.ones(8, int))
    assert not selector.is_held_up()
    assert selector.ask(20, np.ones(8, int)).any()


def test_intervals_hold_whatever_is_out():
    """An interval is about a worker's own row at all its prefixes at once."""
    selector = near_the_end()
    before = selector.standing()
    selector.wait_for(np.full(8, 2))
    after = selector.standing()
    assert np.array_equal(before.lower, after.lower)
    assert np.array_equal(before.upper, after.upper)


def test_it_waits_for_no_more_than_a_set_has():
    selector = Certified(Problem(3, 1, 0.3, 0.1), accuracy=THIS_SET, questions=12)
    selector.tell([0, 1, 2], [10, 2, 1], [10, 10, 10])
    selector.wait_for([2, 2, 2])
    assert np.isfinite(selector.standing().gap)


def test_another_selection_is_judged_by_what_is_out_too():
    selector = near_the_end()
    arms = selector.selection()
    before = selector.shortfall(arms)
    selector.wait_for(np.full(8, 3))
    assert selector.shortfall(arms) > before
    assert selector.shortfall(arms) == selector.standing().gap
