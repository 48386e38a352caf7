"""Roster changes in a run of certified: docs/absence.md, sections 2 and 3."""

import math

import numpy as np
import pytest

from topk import Problem
from topk.certified import Certified, Universal
from topk.published.kl import KLLUCB
from topk.roster import (
    CLOSED,
    OPENED,
    is_guarantee_lost,
    opening_option,
    plan_options,
    share_left,
)

from ..harness import too_many

N, DELTA, EPSILON, RUNS = 100, 0.05, 0.1, 50
BETTER, WORSE = 0.61, 0.5


def selector_of(n, left, k=1, epsilon=EPSILON, share=1.0, **options):
    """Return certified for the workers left, as the app builds it."""
    problem = Problem(left, k, epsilon, DELTA * share)
    return Certified(problem, **plan_options(Certified, n, left), **options)


def claim_false_by_choosing_a_pair(seed, withhold):
    """Return True if a false claim is made of a pair that is left because of its answers.

    Half of the workers are better by more than epsilon. After every answer of all, the unluckiest
    of these and the luckiest of the others are left; if nothing is certified all are restored.
    """
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(N) < N // 2, BETTER, WORSE)
    right, gone = np.zeros(N, np.int64), np.ones(N, bool)
    for answers in range(1, 101):
        right += rng.random(N) < truth
        pair = [int(right[: N // 2].argmin()), N // 2 + int(right[N // 2 :].argmax())]
        gone[:], gone[pair] = True, False
        pulls = np.full(N, answers)
        if withhold and is_guarantee_lost(Certified, gone, pulls):
            continue
        # the former plan: for the remaining workers only
        selector = Certified(Problem(2, 1, EPSILON, DELTA * share_left(gone, pulls)))
        selector.tell([0, 1], right[pair], pulls[pair])
        if selector.stop() and selector.selection()[0] == 1:
            return True
    return False


@pytest.mark.slow
def test_withholding_prevents_false_claims_by_choosing_the_remaining_pair():
    before = sum(claim_false_by_choosing_a_pair(seed, withhold=False) for seed in range(RUNS))
    after = sum(claim_false_by_choosing_a_pair(seed, withhold=True) for seed in range(RUNS))
    assert too_many(before, RUNS, DELTA)
    assert after == 0


def test_absence_without_an_answer_keeps_the_guarantee():
    gone, pulls = np.array([True, False, False]), np.array([0, 4, 5])
    assert not is_guarantee_lost(Certified, gone, pulls)
    assert is_guarantee_lost(Certified, gone, pulls + 1)
    assert is_guarantee_lost(Certified, ~(gone | True), pulls, opened_at=[3])
    assert not is_guarantee_lost(Certified, ~(gone | True), pulls, opened_at=[0])


@pytest.mark.parametrize(
    ("changes", "open_now", "asked_open"),
    [
        ([], True, True),
        ([], False, False),
        ([(CLOSED, 0)], False, False),
        ([(CLOSED, 3)], False, True),
        ([(OPENED, 0)], True, True),
        ([(OPENED, 0), (CLOSED, 0)], False, False),
        ([(OPENED, 0), (CLOSED, 5)], False, True),
        ([(CLOSED, 0), (OPENED, 4)], True, False),  # which costs the guarantee
        ([(OPENED, 4), (CLOSED, 6)], False, False),
    ],
)
def test_an_open_roster_counts_from_the_first_question_on(changes, open_now, asked_open):
    option = {"asked_open": True} if asked_open else {}
    late = {} if asked_open or (OPENED, 4) not in changes else {"joined_late": 2}
    for joined in (0, 2):  # otherwise joining and closing could decide what certifies
        assert opening_option(Certified, changes, open_now, joined) == option
        expected = option | (late if joined else {})
        assert opening_option(Universal, changes, open_now, joined) == expected
    assert opening_option(KLLUCB, changes, open_now, 2) == {}


def test_workers_joining_during_the_answers_are_certified_by_swaps():
    problem, options = Problem(14, 6, 0.1, DELTA), {"asked_open": True}
    assert Certified(problem).pool is not None
    selector = Certified(problem, **options)
    assert selector.pool is None
    assert not Certified.covers_withdrawal(problem, options)
    assert "when the roster closed, may not depend" in selector.guarantee.assumes


def errors_of_late_joiners(runs, delta=0.2):
    """Return how many selections are wrong if better workers join after four answers of each.

    A wrong place costs more than epsilon: three of the six best come late.
    """
    wrong, truth = 0, np.repeat([0.9, 0.5, 0.9], [3, 8, 3])
    for seed in range(runs):
        rng = np.random.default_rng([6, seed])
        first = np.where(np.arange(14) < 11, 4, 0)
        selector = Certified(Problem(14, 6, 0.06, delta), asked_open=True)
        selector.tell(np.arange(14), rng.binomial(first, truth), first)
        while not selector.stop():
            counts = selector.ask(14, rng=rng)
            selector.tell(np.arange(14), rng.binomial(counts, truth), counts)
        wrong += truth[selector.selection()].sum() < 5.4 - 1e-9
    return wrong


def test_late_joiners_are_selected_as_guaranteed(sample):
    runs = sample(20, 100)
    assert not too_many(errors_of_late_joiners(runs), runs, 0.2)


@pytest.mark.parametrize(("n", "left", "k"), [(300, 120, 30), (60, 30, 10), (12, 7, 3), (12, 7, 6)])
def test_weights_and_kind_of_bound_stay_those_of_the_start(n, left, k):
    before, after = (selector_of(n, size, k=k, epsilon=0.1) for size in (n, left))
    assert (before.swaps is None) == (after.swaps is None)
    assert after._levels == before._levels
    if after.swaps is not None:
        most = after.swaps.levels.shape[1]
        assert (after.swaps.levels == before.swaps.levels[:, :most]).all()


@pytest.mark.parametrize(("n", "left", "k"), [(60, 30, 10), (12, 7, 6), (300, 120, 30)])
def test_selector_ends_with_the_workers_present_and_needs_no_fewer_answers(n, left, k):
    truth = np.where(np.arange(left) < k, 0.92, 0.3)  # a wrong place of (12, 7, 6) costs .103
    answers = []
    for start in (n, left):
        rng, selector = np.random.default_rng(4), selector_of(start, left, k=k, epsilon=0.1)
        while not selector.stop():
            counts = selector.ask(left, rng=rng)
            selector.tell(np.arange(left), rng.binomial(counts, truth), counts)
        assert truth[:k].mean() - truth[selector.selection()].mean() <= 0.1
        answers.append(selector.state.pulls.sum())
    assert answers[0] >= 0.8 * answers[1]


def test_worker_without_answers_costs_swaps_a_whole_place():
    """They may never come, and the best set without them is another."""
    selector = Certified(Problem(20, 3, 0.2, DELTA))
    assert selector.swaps is not None
    pulls = np.append(np.full(19, 200), 0)
    selector.tell(np.arange(20), np.where(np.arange(20) < 3, pulls, 0), pulls)
    chosen, tally = selector._judgement()[1], selector._tally
    total = selector.swaps.worst(chosen, tally).total
    assert selector._by_swaps(chosen, tally) == pytest.approx(total + 1)
    assert np.isinf(selector._by_swaps(~chosen, tally))


def test_intervals_certify_nothing_once_a_worker_is_gone():
    """Their levels are by rank, of a roster that is no more: swaps alone certify then."""
    told = (np.arange(6), [60, 60, 0, 0, 0, 0], np.full(6, 60))
    whole = Certified(Problem(6, 2, 0.1, 0.1), asked_open=True)
    less = Certified(Problem(6, 2, 0.1, 0.1), asked_open=True, planned_for=8)
    for selector in (whole, less):
        selector.tell(*told)
    best = np.arange(6) < 2
    assert whole._by_intervals(best) < math.inf
    assert less._by_intervals(best) == math.inf
