"""Credible with workers that give few answers, or none."""

import numpy as np
import pytest

from topk import Problem
from topk.credible.selector import Credible

from .pools import pool, run


def test_selector_never_stops_before_half_the_workers_have_two_answers():
    """All answers are right, and epsilon is so wide that the model alone would stop at once."""
    selector = Credible(Problem(6, 2, 0.5, 0.2))
    for arm in [0, 1, 2, 3, 4, 5, 0, 1, 2]:
        assert not selector.stop()
        assert selector.standing().gap == 1
        selector.tell([arm], [1.0])
    assert selector.stop() == ("guarantee",)


def test_selector_never_stops_before_k_workers_have_two_answers():
    selector = Credible(Problem(60, 50, 0.5, 0.2))
    selector.tell(np.arange(49), np.full(49, 9.0), 9)
    assert not selector.stop()
    selector.tell([49], [2.0], 2)
    assert selector.stop() == ("guarantee",)


def play_with_few(truth, few, problem, seed=0):
    """Play a run in which these workers have one answer to give, or none."""
    selector, rng = Credible(problem), np.random.default_rng([seed, 4])
    most = np.full(truth.size, 10_000)
    most[few] = np.arange(few.size) % 2
    while not selector.stop():
        counts = selector.ask(room=most - selector.state.pulls, rng=rng)
        arms = np.flatnonzero(counts)
        assert arms.size
        selector.tell(arms, rng.binomial(counts[arms], truth[arms]).astype(float), counts[arms])
    return selector


def test_worker_without_questions_left_does_not_delay_the_run():
    truth, few = pool(11, 60), np.arange(12)
    all_answer = run(truth, Problem(60, 12, 0.06, 0.1))
    selector = play_with_few(truth, few, Problem(60, 12, 0.06, 0.1))
    assert selector.stop() == ("guarantee",)
    assert selector.state.pulls.sum() < 2.5 * all_answer.state.pulls.sum()


def test_selector_asks_no_further_if_only_absent_workers_prevent_the_stop():
    """A third of the pool never comes: it may hold far better workers than the others."""
    truth = np.linspace(0, 1, 60)[np.random.default_rng(12).permutation(60)]
    selector, rng = Credible(Problem(60, 12, 0.05, 0.05)), np.random.default_rng(13)
    room = np.where(np.arange(60) < 20, 0, 10_000)
    while (counts := selector.ask(room=room, rng=rng)).any():
        arms = np.flatnonzero(counts)
        selector.tell(arms, rng.binomial(counts[arms], truth[arms]).astype(float), counts[arms])
    assert not selector.stop()
    assert selector.state.pulls.sum() < 2_000
    assert 0.05 < selector.standing().gap < 1
    (sentence,) = selector.warnings()
    assert sentence.startswith("20 workers gave fewer than two answers")
    assert "nobody else is asked any more" in sentence
    here = np.sort(truth[20:])[-12:].mean()
    assert here - truth[selector.selection()].mean() <= 0.05


def test_worker_with_fewer_than_two_answers_is_not_chosen_before_others():
    """All answers so far were wrong: a worker never asked looks better than any other."""
    selector = Credible(Problem(20, 5, 0.05, 0.1))
    selector.tell(np.arange(8), np.zeros(8), 6)
    assert selector.selection().max() < 8


@pytest.mark.parametrize(("k", "epsilon", "named"), [(1, 0.05, True), (5, 0.2, False)])
def test_doubt_names_workers_with_fewer_than_two_answers_if_they_matter(k, epsilon, named):
    selector, rng = Credible(Problem(20, k, epsilon, 0.1)), np.random.default_rng(1)
    arms = np.arange(19)
    selector.tell(arms[:9], np.full(9, 20.0), 40)
    assert selector.warnings() == ()  # too few for a stop
    selector.tell(arms[9:], rng.binomial(40, np.linspace(0.4, 0.9, 10)).astype(float), 40)
    doubts = [doubt for doubt in selector.warnings() if "fewer than two answers" in doubt]
    assert [doubt[:8] for doubt in doubts] == (["1 worker"] if named else [])
    selector.tell([19], [2.0], 3)
    assert "fewer than two answers" not in " ".join(selector.warnings())
