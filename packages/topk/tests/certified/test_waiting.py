"""Answers that are out count at their worst: docs/certified.md, section 3, Lemma 3."""

import math

import numpy as np
import pytest

from topk import Problem
from topk.certified.selector import THIS_SET, Certified
from topk.certified.swap_prices import STANDS_STILL, swap_prices
from topk.instances import uniform

from ..harness import too_many


def near_the_end(seed=1):
    """A selector that has just stopped, and one that got the same answers but for the last few."""
    truth, rng = np.array([0.95, 0.9, 0.85, 0.3, 0.2, 0.15, 0.1, 0.1]), np.random.default_rng(seed)
    selector = Certified(Problem(8, 3, 0.2, 0.1))
    while not selector.stop():
        counts = selector.ask(2)
        selector.tell(np.arange(8), rng.binomial(counts, truth), counts)
    return selector


def test_pending_answers_delay_the_stop():
    selector = near_the_end()
    gap = selector.standing().gap
    out = np.array([3, 3, 3, 0, 0, 0, 0, 0])
    selector.wait_for(out)
    assert not selector.stop()
    assert selector.standing().gap > selector.problem.epsilon >= gap
    assert selector.is_held_up()
    assert not selector.ask(40, out).any()
    # As if alone, where its holders have been silent for too long: others are asked on.
    others = np.where(out > 0, 0, 9)
    assert selector.ask(40, np.zeros(8, int), others).any()
    selector.tell([0, 1, 2], [3, 3, 3], [3, 3, 3])
    assert not selector.state.out.any()
    assert not selector.is_held_up()
    assert selector.stop()


def test_asking_continues_if_pending_answers_do_not_suffice_to_stop():
    selector = Certified(Problem(8, 3, 0.2, 0.1))
    selector.tell(np.arange(8), [4, 4, 3, 1, 0, 1, 1, 0], np.full(8, 4))
    selector.wait_for(np.ones(8, int))
    assert not selector.is_held_up()
    assert selector.ask(20, np.ones(8, int)).any()


def test_intervals_hold_with_any_pending_answers():
    """An interval is about a worker's own row at all its prefixes at once."""
    selector = near_the_end()
    before = selector.standing()
    selector.wait_for(np.full(8, 2))
    after = selector.standing()
    assert np.array_equal(before.lower, after.lower)
    assert np.array_equal(before.upper, after.upper)


def test_selector_awaits_no_more_answers_than_the_set_has():
    selector = Certified(Problem(3, 1, 0.3, 0.1), accuracy=THIS_SET, questions=12)
    selector.tell([0, 1, 2], [10, 2, 1], [10, 10, 10])
    selector.wait_for([2, 2, 2])
    assert np.isfinite(selector.standing().gap)


def test_foreign_selection_is_judged_by_pending_answers_too():
    selector = near_the_end()
    arms = selector.selection()
    before = selector.shortfall(arms)
    selector.wait_for(np.full(8, 3))
    assert selector.shortfall(arms) > before
    assert selector.shortfall(arms) == selector.standing().gap


def test_needed_workers_with_full_hands_are_awaited():
    """Answers of others would cost money and where swaps certify bring nothing."""
    selector = near_the_stop(k=3)
    assert selector.swaps is not None
    needed = selector.ask(10_000) > 0
    few = selector.ask(10_000, room=[1] * 100)
    assert 0 < needed.sum() < 50
    assert 0 < few.sum() <= needed.sum()
    assert not few[~needed].any()
    assert not selector.ask(10_000, pending=few, room=np.where(few, 0, 1)).any()


def test_numberings_ask_few_others_while_hands_are_full():
    """The asked workers are drawn: the others get less than a tenth."""
    selector = near_the_stop()
    assert selector.pool is not None
    needed = selector.ask(10_000) > 0
    few = selector.ask(10_000, room=[1] * 100)
    assert 0 < needed.sum() < 50
    assert few.sum() > 0
    assert few[~needed].sum() <= 0.1 * few.sum()
    later = selector.ask(10_000, pending=few, room=np.where(few, 0, 1))
    assert later.sum() <= 0.03 * selector.ask(10_000).sum()


def test_worker_without_questions_left_is_not_awaited():
    selector = near_the_stop()
    needed = selector.ask(10_000) > 0
    assert selector.ask(10, room=np.where(needed, 0, 50)).any()


def near_the_stop(k=20):
    truth, rng = uniform(100), np.random.default_rng(12)
    selector = Certified(Problem(100, k, 0.1, 0.01))
    selector.tell(np.arange(100), rng.binomial(16, truth), pulls=16)
    assert not selector.stop()
    return selector


def swap_factors(runs, workers, asked):
    """Return (runs, workers, asked) ln of the mixture (4.1) at accuracy .5 along each row, and its
    least value at the end if all answers after each place are right (Lemma 3).
    """
    right = np.random.default_rng(6).random((runs, workers, asked)) < 0.5
    sums, pulls = np.cumsum(right, axis=-1), np.arange(1, asked + 1)
    lower = np.sin(math.pi / 4 - swap_prices(0.15, 0)._apart / 2) ** 2

    def mixture(pulls, sums):
        ratios = [(2 * x) ** sums * (2 - 2 * x) ** (pulls - sums) for x in lower]
        return np.log(STANDS_STILL + (1 - STANDS_STILL) * np.mean(ratios, axis=0))

    return mixture(pulls, sums), mixture(asked, sums + asked - pulls)


def test_a_crowd_that_delays_right_answers_breaks_the_event_of_swaps_only_as_counted():
    """Every worker shows the prefix that is the best for them, and holds back the rest."""
    runs, delta = 400, 0.1
    paths, ends = swap_factors(runs, 6, 80)
    shown = paths.argmax(axis=-1)[..., None]
    counted = np.take_along_axis(paths, shown, -1).sum(axis=(1, 2))
    at_worst = np.take_along_axis(ends, shown, -1).sum(axis=(1, 2))
    assert too_many((counted > math.log(1 / delta)).sum(), runs, delta)
    assert not too_many((at_worst > math.log(1 / delta)).sum(), runs, delta)
    assert (at_worst <= paths[..., -1].sum(axis=1) + 1e-9).all()


@pytest.mark.slow
def test_a_crowd_that_delays_by_grade_keeps_the_guarantee_of_numberings(sample):
    """Right answers are slow. A wrong place is an error: it costs .8, K times epsilon is .78."""
    truth, delta, wrong, runs = np.repeat([0.95, 0.15], [6, 8]), 0.2, 0, sample(10, 100)
    for seed in range(runs):
        rng = np.random.default_rng([12, seed])
        selector, queues = Certified(Problem(14, 6, 0.13, delta)), [[] for _ in truth]
        while not selector.stop():
            out = np.array([len(queue) for queue in queues])
            for arm in np.repeat(np.arange(14), selector.ask(28, out, rng=rng)):
                queues[arm].append(bool(rng.random() < truth[arm]))
            for arm, queue in enumerate(queues):
                while queue and rng.random() < (0.3 if queue[0] else 0.9):
                    selector.tell([arm], [queue.pop(0)])
            selector.wait_for([len(queue) for queue in queues])
        assert selector.pool is not None
        wrong += truth[selector.selection()].sum() < 5.7 - 1e-9
    assert not too_many(wrong, runs, delta)
