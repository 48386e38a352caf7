"""Answers that are out count at their worst: docs/certified.md, section 3, Lemma 3."""

import numpy as np

from topk import Problem
from topk.certified.selector import THIS_SET, Certified


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
