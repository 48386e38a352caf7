"""No algorithm fails on any problem: random sizes, ties, zeros and ones, rewards between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topk import SELECTORS, Problem, ProblemError
from topk.best_sets import Matching, Quotas
from topk.published.rounds import peel
from topk.simulate import simulate_run

from .harness import FAMILIES, FIXED_BUDGET, FIXED_CONFIDENCE, Table
from .parameters import mostly_slow
from .readable import ranked

MEAN = st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0]) | st.floats(0, 1)


@st.composite
def problems(draw):
    means = draw(st.lists(MEAN, min_size=2, max_size=50))
    return means, draw(st.integers(1, len(means) - 1))


@pytest.mark.parametrize("name", mostly_slow(FIXED_BUDGET, FAMILIES))
@given(problems(), st.integers(1, 40), st.integers(1, 60) | st.none(), st.booleans())
def test_fixed_budget(name, problem, per_arm, slots, noise):
    means, k = problem
    budget = per_arm * len(means) + 1
    play_out(name, means, Problem(len(means), k, 0.1, 0.1, budget), slots, noise, budget)


@pytest.mark.parametrize("name", mostly_slow(FIXED_CONFIDENCE, FAMILIES))
@given(problems(), st.integers(1, 60) | st.none(), st.booleans())
def test_fixed_confidence(name, problem, slots, noise):
    means, k = problem
    k = 1 if name == "lil-ucb" else k
    play_out(name, means, Problem(len(means), k, 0.3, 0.1, 600), slots, noise, 600)


def play_out(name, means, problem, slots, noise, budget):
    selector, table = SELECTORS[name](problem), Table(means, np.random.default_rng(0), noise)
    for number in range(1500):
        if selector.stop():
            break
        counts = selector.ask(slots, rng=np.random.default_rng(number))
        assert counts.sum() > 0
        selector.tell(*table.next(selector.state.pulls, counts))
        assert_size(selector)
        assert selector.state.pulls.sum() <= budget
    assert selector.stop()
    assert_size(selector)
    selector.standing()


def assert_size(selector):
    """Rules for a pass mark may select fewer than K."""
    size, k = np.unique(selector.selection()).size, selector.problem.k
    assert size == selector.selection().size
    assert size == k or (selector.takes_mark and size < k)


@given(problems(), st.integers(2, 30))
def test_peeling_is_one_arm_of_largest_gap_after_another(problem, count):
    means, k = problem
    values = np.sort(means)[::-1]
    left, front, back = values.tolist(), 0, 0
    for _ in range(min(count, len(means))):
        lead = np.inf if k == len(left) else -np.inf if k == 0 else left[0] - left[k]
        lag = np.inf if k == 0 else -np.inf if k == len(left) else left[k - 1] - left[-1]
        if lead > lag:
            left, front, k = left[1:], front + 1, k - 1
        else:
            left, back = left[:-1], back + 1
    assert peel(values, problem[1], count) == (front, back)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=4, max_size=9), st.data())
def test_quotas_choose_the_best_feasible_set(arms, data):
    values = np.array([value for value, _ in arms])
    groups = [group for _, group in arms]
    m, n = max(groups) + 1, len(arms)
    k = data.draw(st.integers(1, n - 1))
    least = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    most = data.draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    feasible = [
        chosen
        for chosen in (np.array(list(f"{bits:0{n}b}")) == "1" for bits in range(2**n))
        if chosen.sum() == k
        and all(least[g] <= (chosen & (np.array(groups) == g)).sum() <= most[g] for g in range(m))
    ]
    option = {"groups": groups, "at_least": least, "at_most": most}
    if not feasible:
        with pytest.raises(ProblemError):
            Quotas(n, k, option)
        return
    best = Quotas(n, k, option).best(values)
    assert values[best].sum() == pytest.approx(max(values[chosen].sum() for chosen in feasible))


def test_a_matching_gives_every_task_a_worker_of_its_own():
    option = {"workers": [0, 0, 1, 1, 2, 2], "tasks": [0, 1, 0, 1, 0, 1]}
    best = Matching(6, 2, option).best(np.array([0.9, 0.8, 0.7, 0.1, 0.2, 0.3]))
    assert np.flatnonzero(best).tolist() == [1, 2]
    with pytest.raises(ProblemError, match="worker"):
        Matching(2, 2, {"workers": [0, 0], "tasks": [0, 1]})


@pytest.mark.parametrize("name", ["clucb-pac", "lil-clucb"])
def test_quotas_that_do_not_bind_change_no_run(name):
    means = [0.9, 0.8, 0.4, 0.3, 0.2]
    free = simulate_run(name, means, k=2, epsilon=0.1, seed=4)
    bound = simulate_run(name, means, k=2, epsilon=0.1, seed=4, quotas={"groups": [0] * 5})
    assert free.pulls_per_arm.tolist() == bound.pulls_per_arm.tolist()


@pytest.mark.parametrize("name", ["clucb-pac", "lil-clucb"])
def test_quotas_are_kept(name):
    option = {"groups": [0, 0, 0, 1, 1, 1], "at_least": [0, 2], "at_most": [3, 3]}
    problem = Problem(6, 3, 0.1, 0.1)
    selector, table = (
        SELECTORS[name](problem, quotas=option),
        Table([0.95, 0.7, 0.65, 0.6, 0.4, 0.1], np.random.default_rng(1)),
    )
    while not selector.stop():
        selector.tell(*table.next(selector.state.pulls, selector.ask(20)))
    assert selector.selection().tolist() == [0, 3, 4]
    assert "quotas" in selector.guarantee.sentence(problem)


def test_ranking_breaks_ties_by_number():
    assert ranked([0.5, 0.7, 0.5]) == [1, 0, 2]
