"""Gold health: shares, their difference with its interval, flags."""

from collections import defaultdict

import pytest

from selection.models import Question
from selection.reports import gold_health
from selection.reports.gold_health import (
    BACKWARDS,
    DISAGREE,
    FORM,
    NEVER_WRONG,
    RightShare,
    ShareDifference,
    _find_other_forms,
    _suspicions,
    _Tally,
)
from tests.worlds import crowd, make_run, play


@pytest.mark.parametrize(
    ("right", "answers", "lower", "upper"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)],
)
def test_wilson_s_interval_is_as_published(right, answers, lower, upper):
    """The first three rows of Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3."""
    assert RightShare(right, answers).wilson() == pytest.approx((lower, upper), abs=5e-5)


@pytest.mark.parametrize(
    ("best", "rest", "lower", "upper"),
    [
        (RightShare(56, 70), RightShare(48, 80), 0.0524, 0.3339),
        (RightShare(9, 10), RightShare(3, 10), 0.1705, 0.8090),
        (RightShare(6, 7), RightShare(2, 7), 0.0582, 0.8062),
        (RightShare(5, 56), RightShare(0, 29), -0.0381, 0.1926),
    ],
)
def test_the_difference_s_interval_is_as_published(best, rest, lower, upper):
    """Newcombe, Statistics in Medicine 17 (1998) 873, table II, contrasts a to d, method 10."""
    difference = ShareDifference.compare(best, rest)
    assert (difference.lower, difference.upper) == pytest.approx((lower, upper), abs=5e-5)


def test_difference_needs_answers_on_both_sides():
    assert ShareDifference.compare(RightShare(3, 4), RightShare(0, 0)) is None


def test_flags_name_the_suspicions():
    def flags(best: RightShare, rest: RightShare) -> tuple[str, ...]:
        overall = RightShare(best.right + rest.right, best.answers + rest.answers)
        return _suspicions(overall, best, ShareDifference.compare(best, rest))

    assert flags(RightShare(1, 10), RightShare(9, 10)) == (DISAGREE, BACKWARDS)
    assert flags(RightShare(7, 10), RightShare(100, 100)) == (BACKWARDS,)
    assert flags(RightShare(10, 10), RightShare(10, 10)) == (NEVER_WRONG,)
    assert flags(RightShare(9, 10), RightShare(5, 10)) == ()
    assert flags(RightShare(0, 2), RightShare(0, 0)) == ()  # two are too few to disagree
    assert flags(RightShare(5, 5), RightShare(5, 5)) == ()  # ten are too few for NEVER_WRONG


@pytest.mark.django_db
def test_the_selected_are_the_likely_best_and_counts_are_right():
    run = make_run(n=5, k=2, questions=15, epsilon=0.01)
    play(run, crowd(1, good=2, high=1.0, low=0.0))
    lines = gold_health(run.question_set, run)
    assert len(lines) == 15
    for line in lines:
        assert (line.asked, line.every) == (5, RightShare(2, 5))
        assert (line.best, line.rest) == (RightShare(2, 2), RightShare(0, 3))
        assert (line.other, line.given, line.given_by_all) == ("no", 0, 3)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "response", "name"),
    [
        ("65,87 €", "65.87", "money"),
        ("24.03.2025", "24.3.2025", "date"),
        ("15:30", "3:30 pm", "time"),
    ],
)
def test_answers_that_differ_in_form_only_are_named(accepted, response, name):
    question = Question(accepted=[accepted])
    tally = _Tally(RightShare(0, 1), defaultdict(int), {})
    tally.add(response, 0, 1)
    assert _find_other_forms(question, tally) == [f"{FORM}{name}"]
    tally = _Tally(RightShare(0, 1), defaultdict(int), {})
    tally.add("something else", 0, 1)
    assert _find_other_forms(question, tally) == []
