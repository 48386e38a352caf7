"""`same-questions`: errors on tables chosen against it, its level, its memory, whom it asks."""

import numpy as np
import pytest

from topk import COMMON_ORDER_SELECTORS, THIS_SET, Problem, State, build_selector
from topk.same_questions import SameQuestions
from topk.same_questions.allocation import share_questions
from topk.simulate import simulate_run

from ..harness import DELTAS, stored, too_many

EPSILON = 0.15


def copies(rng, n, m):
    """The first is right on questions that the copies of one model fail, a bit above epsilon."""
    answers = np.repeat(rng.random((1, m)) < 0.6, n, axis=0)
    answers[0] |= rng.random(m) < 0.4
    return answers


def opposed(rng, n, m):
    """The best one is right just where all others fail."""
    first = rng.random(m) < 0.58
    return np.array([first, *[~first] * (n - 1)])


TABLES = {
    "copies": copies,
    "opposed": opposed,
    "independent": lambda rng, n, m: rng.random((n, m)) < np.r_[0.76, np.full(n - 1, 0.6)][:, None],
    "equal": lambda rng, n, m: rng.random((n, m)) < 0.5,
    "hard questions": lambda rng, n, m: rng.random(m) ** 2 < rng.beta(3, 1, n)[:, None],
}


def play(answers, k, delta, seed, on_set=False, slots=None):
    """Replay a table in the order of its columns, on arms in a random order."""
    n, questions = answers.shape
    place = np.random.default_rng(seed).permutation(n)
    options = {"accuracy": THIS_SET, "questions": questions} if on_set else {}
    selector = SameQuestions(Problem(n, k, EPSILON, delta), **options)
    met = np.zeros(n, int)
    while not selector.stop():
        counts = selector.ask(slots, room=questions - met)
        if not counts.any():
            return None, selector
        for arm in np.flatnonzero(counts):
            values = answers[place[arm], met[arm] : met[arm] + counts[arm]]
            selector.tell(np.full(counts[arm], arm), values)
        met += counts
    return place[selector.selection()], selector


def loss(means, arms, k):
    return np.sort(means)[-k] - means[arms].min()


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("table", TABLES)
def test_selected_arms_are_rarely_worse_than_epsilon(table, delta, sample):
    rng, runs, wrong = np.random.default_rng(7), sample(15, 60), 0
    for seed in range(runs):
        answers = TABLES[table](rng, 6, 20_000).astype(float)
        arms, _ = play(answers, 2 if seed % 2 else 1, delta, seed)
        wrong += loss(answers.mean(axis=1), arms, 2 if seed % 2 else 1) > EPSILON + 0.01
    assert not too_many(wrong, runs, delta)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("table", TABLES)
def test_selected_arms_are_rarely_worse_on_the_set(table, delta, sample):
    rng, runs, wrong = np.random.default_rng(8), sample(15, 200), 0
    for seed in range(runs):
        answers = TABLES[table](rng, 5, 120).astype(float)
        arms, _ = play(answers, 1, delta, seed, on_set=True, slots=10)
        wrong += arms is None or loss(answers.mean(axis=1), arms, 1) > EPSILON + 1e-9
    assert not too_many(wrong, runs, delta)


def test_models_that_agree_need_fewer_answers_than_independent_ones():
    rng, levels = np.random.default_rng(2), np.array([0.85, 0.7, 0.6, 0.5])[:, None]
    together, alone = rng.random(5000) < levels, rng.random((4, 5000)) < levels
    made = [
        play(table.astype(float), 1, 0.05, 0)[1].state.pulls.sum() for table in (together, alone)
    ]
    assert made[0] < 0.6 * made[1]


def test_level_serves_every_pair_of_the_start_once_somebody_left():
    problem = Problem(6, 2, EPSILON, 0.1)
    assert np.exp(-SameQuestions(problem)._level) == pytest.approx(0.09 / 8)
    assert np.exp(-SameQuestions(problem, planned_for=8)._level) == pytest.approx(0.01 / 56)


def test_shown_epsilon_has_enough_evidence_and_less_has_not():
    _, selector = play(TABLES["hard questions"](np.random.default_rng(4), 5, 3000) * 1.0, 2, 0.1, 0)
    gap, arms = selector.standing().gap, selector.selection()
    others = np.setdiff1d(np.arange(5), arms)
    pairs = dict.fromkeys(arms.tolist(), others)
    assert gap <= EPSILON
    assert not selector._short_pairs(gap, pairs)
    assert selector._short_pairs(gap - 0.001, pairs)
    assert selector.shortfall(others[:2]) > gap


def test_stored_state_goes_on_as_before_with_missing_answers():
    first = build_selector("same-questions", Problem(3, 1, 0.2))
    first.tell([0, 0, 0, 1, 1, 2], [1, np.nan, 1, 0, 1, np.nan])
    memory = stored(first.state)
    state = State(*(np.array(memory[name]) for name in ("pulls", "rewards", "verdict")))
    state.memory = memory["memory"]
    assert state.memory == {"met": [3, 2, 1], "answers": [1, -1, 1, 0, 1, -1]}
    again = SameQuestions(Problem(3, 1, 0.2), state)
    for selector in (first, again):
        selector.tell([1, 2], [3, 0], [3, 3])
    assert again.state.pulls.tolist() == [2, 5, 3]
    assert again.standing().gap == first.standing().gap
    assert (again.ask(9) == first.ask(9)).all()


def test_sums_without_an_order_are_refused():
    selector = SameQuestions(Problem(3, 1, 0.2))
    with pytest.raises(ValueError, match="Tell each answer on its own"):
        selector.tell([0], [1], [2])


def test_arms_behind_are_asked_first_and_none_beyond_its_partners():
    undecided = np.ones((4, 4), bool)
    undecided[3] = undecided[:, 3] = False
    made, room = np.array([100, 40, 41, 0]), np.full(4, 100)
    assert share_questions(undecided, made, room, 2).tolist() == [0, 2, 0, 0]
    assert share_questions(undecided, made, room, None).tolist() == [0, 2, 1, 0]
    undecided[:] = False
    undecided[0, 1] = undecided[1, 0] = True
    room[0], made[1] = 0, 99
    assert share_questions(undecided, made, room, 50).tolist() == [0, 1, 0, 0]
    room[1] = 0
    assert not share_questions(undecided, made, room, 50).any()


@pytest.mark.parametrize("slots", [None, 20])
def test_simulation_of_independent_arms_ends_with_the_best(slots):
    assert list(COMMON_ORDER_SELECTORS) == ["same-questions"]
    found = simulate_run(
        "same-questions", [0.9, 0.5, 0.4], k=1, epsilon=0.1, slots=slots, concentration=3.0
    )
    assert found.selection.tolist() == [0]
    assert found.reasons == ("guarantee",)
