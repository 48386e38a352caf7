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


@pytest.mark.parametrize(
    "values", [(1, 0.1, 0.1), (0.5, 0.5, 0.1), (0.5, 0.1, 0), (0.5, 0, 0.1, 0)]
)
def test_impossible_numbers_are_refused(values):
    with pytest.raises(ProblemError):
        MarkTest(*values)
