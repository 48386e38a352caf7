"""The test against a mark: how soon it ends, and how rarely it is wrong."""

import numpy as np
import pytest

from topk.drift import MarkTest
from topk.problem import ProblemError


def play(test: MarkTest, accuracy: float, plays: int, answers: int = 300) -> list:
    rng = np.random.default_rng([7, round(1000 * accuracy)])
    return [test.decide(rng.random(answers) < accuracy) for _ in range(plays)]


def share(results: list, passed: bool) -> float:
    return float(np.mean([result is not None and result[0] is passed for result in results]))


@pytest.mark.parametrize(("accuracy", "passed"), [(0.75, True), (0.8, False)])
def test_worker_at_a_border_is_rarely_judged_falsely(accuracy, passed):
    results = play(MarkTest(0.8, 0.05, 0.05), accuracy, 2000)
    assert share(results, passed) <= 0.05


@pytest.mark.parametrize(
    ("accuracy", "passed", "most"), [(0.95, True, 25), (0.9, True, 50), (0.5, False, 20)]
)
def test_clear_cases_end_soon(accuracy, passed, most):
    results = play(MarkTest(0.8, 0.05, 0.05), accuracy, 200)
    assert share(results, passed) > 0.9
    assert np.median([result[1] if result else 300 for result in results]) <= most


def test_further_tries_need_more_evidence():
    right = [True] * 100
    first, second = (MarkTest(0.8, 0.05, 0.05, tries).decide(right) for tries in (1, 2))
    assert first[0]
    assert second[0]
    assert first[1] < second[1]


def test_result_is_that_of_the_first_crossing():
    test = MarkTest(0.8, 0.05, 0.05)
    passed, answers = test.decide([True] * 60 + [False] * 60)
    assert passed
    assert answers < 60
    assert test.decide([True] * (answers - 1)) is None
    assert test.decide([]) is None


def decide_by_hand(test: MarkTest, right: list[bool]) -> tuple[bool, int] | None:
    """Judge as docs/drift.md says it: two mixtures of bets, one product at a time."""
    border = test.mark - test.tolerance
    above = [border + (1 - border) * share for share in (0.2, 0.4, 0.6, 0.8, 0.95)]
    below = [test.mark * share for share in (0.875, 0.75, 0.56)]
    rises, falls = [0.2] * 5, [0.7, 0.23, 0.07]
    for count, good in enumerate(right, 1):
        for i, b in enumerate(above):
            rises[i] *= b / border if good else (1 - b) / (1 - border)
        for i, b in enumerate(below):
            falls[i] *= b / test.mark if good else (1 - b) / (1 - test.mark)
        for passed, evidence in ((True, rises), (False, falls)):
            if sum(evidence) >= test.tries / test.delta:
                return passed, count
    return None


@pytest.mark.parametrize(
    "test", [MarkTest(0.8, 0.05, 0.05), MarkTest(0.6, 0, 0.1, 3), MarkTest(0.3, 0.2, 0.01, 2)]
)
def test_decision_and_its_answer_are_those_of_a_count_by_hand(test):
    rng = np.random.default_rng(12)
    for accuracy in (0.1, 0.3, 0.55, 0.7, 0.85, 0.95):
        for _ in range(8):
            right = (rng.random(200) < accuracy).tolist()
            assert test.decide(right) == decide_by_hand(test, right)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0, 0.1, 0.1), "The mark is 0;"),
        ((1, 0.1, 0.1), "The mark is 1;"),
        ((0.5, 0.5, 0.1), "less than the mark"),
        ((0.5, -0.1, 0.1), "at least 0"),
        ((0.5, 0.1, 0), "delta is 0;"),
        ((0.5, 0.1, 1), "delta is 1;"),
        ((0.5, 0, 0.1, 0), "tries is 0;"),
    ],
)
def test_each_impossible_number_has_its_sentence(values, words):
    with pytest.raises(ProblemError, match=words):
        MarkTest(*values)
