"""Evidence of pairs: its expectation by exact enumeration, and how often it misleads."""

from itertools import permutations, product

import numpy as np
import pytest

from topk.same_questions.wealth import PairEvidence

from ..harness import DELTAS, too_many

PAIR = np.array([0]), np.array([1])


def evidence_of(inside, outside, epsilon, questions=0):
    """Read a pair's evidence after the last question, that outside is not better."""
    answers = np.array([inside, outside], float)
    met = np.full(2, answers.shape[1])
    return PairEvidence(2, epsilon, questions).read(answers, met, *PAIR)[0, 0]


@pytest.mark.parametrize(
    "chances",
    [{1: 0.2, 0: 0.8}, {1: 0.5, -1: 0.3, 0: 0.2}, {1: 0.6, -1: 0.4}, {0.5: 0.4, 0: 0.6}],
)
def test_evidence_against_a_true_lead_of_epsilon_has_expectation_one(chances):
    epsilon, length = 0.2, 5
    assert sum(d * p for d, p in chances.items()) == pytest.approx(epsilon)
    expected = sum(
        np.prod([chances[d] for d in leads])
        * np.exp(evidence_of(np.maximum(0, -np.array(leads)), np.maximum(0, leads), epsilon))
        for leads in product(chances, repeat=length)
    )
    assert expected == pytest.approx(1)


@pytest.mark.parametrize("leads", [(1, 1, 1, -1, 0, 0), (1, 1, 0, 0, 0, 0), (1, 1, 1, 1, 0, -1)])
def test_evidence_on_a_set_has_expectation_at_most_one_at_each_prefix(leads):
    """The lead of 2 or 3 of 6 questions is above epsilon."""
    for length in range(1, 7):
        values = [
            np.exp(evidence_of(np.maximum(0, -part), np.maximum(0, part), 0.3, questions=6))
            for order in permutations(leads)
            for part in [np.array(order[:length])]
        ]
        assert np.mean(values) <= 1 + 1e-9


def test_a_set_met_by_both_decides():
    assert evidence_of([0, 0, 1, 1], [1, 0, 1, 1], 0.25, questions=4) == np.inf
    assert evidence_of([0, 0, 1, 1], [1, 1, 1, 1], 0.25, questions=4) < 0


def test_evidence_rises_with_epsilon_and_is_read_in_parts_as_at_once():
    rng = np.random.default_rng(1)
    answers, met = rng.random((2, 60)).round(), np.array([60, 50])
    for questions in (0, 80):
        found = [
            PairEvidence(2, epsilon, questions).read(answers, met, *PAIR)[0, 0]
            for epsilon in np.linspace(0, 0.9, 19)
        ]
        assert found == sorted(found)
        parts = PairEvidence(2, 0.45, questions)
        for step in (3, 20, 50):
            last = parts.read(answers, np.minimum(met, step), *PAIR)
        assert last == pytest.approx(found[9])


def test_a_question_with_a_missing_answer_is_passed_over():
    whole = evidence_of([1, 0, 1], [0, 0, 1], 0.1)
    assert evidence_of([1, np.nan, 0, 1, 1], [0, 1, 0, 1, np.nan], 0.1) == pytest.approx(whole)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("right", [0.0, 0.3])
def test_evidence_ever_reaches_one_over_delta_with_probability_delta(delta, right, sample):
    """Half of delta and less would show evidence that is too careful, at the greatest delta."""
    rng, epsilon, runs, wrong = np.random.default_rng(3), 0.1, sample(100, 1000), 0
    for _ in range(runs):
        draw = rng.random(600)
        outside, inside = draw < right + epsilon, draw > 1 - right
        pair = PairEvidence(2, epsilon, 0)
        answers = np.array([inside, outside], float)
        most = max(pair.read(answers, np.full(2, t), *PAIR)[0, 0] for t in range(1, 600, 3))
        wrong += most >= -np.log(delta)
    assert not too_many(wrong, runs, delta)
    assert wrong or delta < 0.5
