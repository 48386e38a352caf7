"""Several problems on one budget."""

import numpy as np
import pytest

from topk import MULTI_SELECTORS, MultiProblem, ProblemError, Verdict

from ..harness import Table, finish, restored, stored

PARTS = [0] * 4 + [1] * 5 + [2] * 3
MEANS = [0.9, 0.5, 0.45, 0.4, 0.8, 0.75, 0.4, 0.4, 0.3, 0.6, 0.55, 0.1]
every = pytest.mark.parametrize("name", sorted(MULTI_SELECTORS))


def build(name, budget=3000, state=None):
    problem = MultiProblem.build(PARTS, [1, 2, 2], 0.05, 0.1, budget)
    return MULTI_SELECTORS[name](problem, state)


def table(seed=0):
    return Table(MEANS, np.random.default_rng(seed))


@every
@pytest.mark.parametrize("slots", [None, 17])
def test_selection_has_k_of_each_part_within_the_budget(name, slots):
    selector = finish(build(name), table(), slots)
    assert selector.selection().tolist() == [0, 4, 5, 9, 10]
    assert selector.stop() == ("budget",)
    assert selector.state.pulls.sum() <= 3000
    assert (selector.standing().verdict == Verdict.ACCEPTED).sum() == 5


@every
def test_rebuilding_changes_nothing(name):
    straight, rebuilt, answers = build(name), build(name), table()
    for _ in range(40):
        rebuilt = build(name, state=restored(stored(rebuilt.state)))
        counts = straight.ask(13)
        assert counts.tolist() == rebuilt.ask(13).tolist()
        told = answers.next(straight.state.pulls, counts)
        straight.tell(*told)
        rebuilt.tell(*told)
        if straight.stop():
            break
    assert stored(straight.state) == stored(rebuilt.state)


@every
def test_selector_stays_within_room(name):
    selector, rng = build(name), np.random.default_rng(1)
    selector.tell(np.arange(12), np.array(MEANS))
    for _ in range(20):
        room = rng.integers(0, 3, 12)
        asked = selector.ask(9, room=room)
        assert (asked <= room).all()
        assert asked.sum() <= 9


def test_hard_problems_get_more_answers():
    means = [0.9, 0.1, 0.1, 0.1, 0.55, 0.5, 0.45, 0.4]
    problem = MultiProblem.build([0] * 4 + [1] * 4, [1, 1], 0.0, 0.1, 1500)
    for name in MULTI_SELECTORS:
        selector = finish(MULTI_SELECTORS[name](problem), Table(means, np.random.default_rng(2)))
        assert selector.state.pulls[4:].sum() > selector.state.pulls[:4].sum()


def test_a_part_with_one_arm_left_uses_up_a_phase():
    """Figure 2 of Bubeck et al. 2013: exactly one arm leaves in each of the MN - 1 phases."""
    selector = build("multi-sar")
    assert selector.schedule.size == 11
    left = 12
    for _ in range(200):
        if selector.stop():
            break
        counts = selector.ask()
        before = selector.round
        selector.tell(*table().next(np.zeros(12, int), counts))
        left -= selector.round - before
        assert selector.undecided.sum() in (left, 0)


def test_a_problem_that_cannot_be_is_refused():
    with pytest.raises(ProblemError, match="Problem 2"):
        MultiProblem.build([0, 0, 1, 1], [1, 2])
    with pytest.raises(ProblemError, match="belong"):
        MultiProblem.build([0, 0, 1, 5], [1, 1])
