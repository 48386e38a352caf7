"""Workers shown to reach a pass mark: false as rarely as stated, and after few answers."""

from math import comb, inf, log, nan

import numpy as np
import pytest
from scipy.stats import binom

from topk.pass_mark import (
    evidence_at_least,
    evidence_below,
    expected_answers,
    is_settled,
    judge_marks,
    show_at_least,
    show_below,
)

from .harness import DELTAS

BELOW, ABOVE = 0.78, 0.92


def has_a_false_mark(rng, delta, size, joined):
    """Tell if frequent looks meet a mark that is not true, of either kind.

    The worker that looks best is asked most, to favour luck.
    """
    truth = np.r_[np.full(8, BELOW), np.full(2, ABOVE)]
    tables = rng.random((10, size or 400)) < truth[:, None]
    truth = tables.mean(1) if size else truth
    pulls = np.full(10, 4)
    for _ in range(18):
        sums = np.array([row[:count].sum() for row, count in zip(tables, pulls, strict=True)])
        sizes = None if size is None else np.full(10, size)
        marks = judge_marks(sums, pulls, 0.8, delta, questions=sizes, joined=joined)
        if ((marks > 0) & (truth < 0.8 - 1e-9)).any() or ((marks < 0) & (truth >= 0.8)).any():
            return True
        best = np.argsort(-sums / pulls, kind="stable")[:4]
        pulls[best] = np.minimum(pulls[best] * 5 // 4 + 1, tables.shape[1])
    return False


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(("size", "joined"), [(None, 0), (None, 6), (60, 0)])
def test_false_marks_are_as_rare_as_stated(sample, delta, size, joined):
    """Both kinds of marks have an error probability delta each."""
    rng, plays = np.random.default_rng(22), sample(25, 1000)
    wrong = sum(has_a_false_mark(rng, delta, size, joined) for _ in range(plays))
    assert wrong <= binom.ppf(0.9999, plays, min(2 * delta, 0.75))


def test_one_worker_alone_is_wrong_nearly_as_often_as_allowed(sample):
    """A worker at the mark, watched for long: evidence of half the level would be too often."""
    rng, plays = np.random.default_rng(3), sample(100, 3000)
    sums = (rng.random((plays, 600)) < 0.8).cumsum(1)[:, 9:]
    pulls = np.arange(10, 601)
    ever = sum(
        any(show_at_least([row[i]], [pulls[i]], 0.8, 0.2)[0] for i in range(0, pulls.size, 20))
        for row in sums
    )
    assert binom.ppf(0.0001, plays, 0.04) <= ever <= binom.ppf(0.9999, plays, 0.2)


def test_good_others_make_a_mark_cheaper_and_more_workers_dearer():
    def needed(others):
        counts = np.arange(20, 400)
        flags = [
            show_at_least([0.95 * c, *(c * np.array(others))], [c] * (1 + len(others)), 0.8, 0.05)
            for c in counts
        ]
        return int(counts[np.array(flags)[:, 0].argmax()])

    assert needed([0.95] * 20) < needed([0.5] * 20)
    assert needed([0.5] * 20) < needed([0.5] * 200)
    assert abs(needed([0.5] * 20) - expected_answers(0.95, 0.8, 21, 0.05)) <= 2
    assert expected_answers(0.8, 0.8, 21, 0.05) is None


def test_all_questions_of_a_set_settle_it_exactly():
    sums, pulls = np.array([40.0, 39.0]), np.array([50, 50])
    assert judge_marks(sums, pulls, 0.8, 0.05, questions=pulls).tolist() == [1, -1]
    assert judge_marks(sums, pulls, 0.8, 0.05).tolist() == [0, 0]


def test_no_worker_is_below_a_mark_of_one_and_none_is_settled_without_answers():
    assert not show_below([0.0], [90], 1.0, 0.05).any()
    assert judge_marks([0.0, 0], [0, 0], 0.8, 0.5).tolist() == [0, 0]
    assert is_settled([0.0, 200], [200, 200], 0.8, 0.05, 0.05).tolist() == [True, True]


# -- against the definitions of docs/pass-mark.md, in plain numbers

M, MARK = 12, 0.7  # questions of a set, and their mark


def mixture(right, wrong, mark):
    """The evidence E against an accuracy of at most the mark."""
    accuracies = mark + (1 - mark) * (np.arange(32) + 0.5) / 32
    return np.mean((accuracies / mark) ** right * ((1 - accuracies) / (1 - mark)) ** wrong)


def drawn(total, right, wrong):
    """Likelihood of right and wrong answers if total of the M questions have a right one."""
    return comb(total, right) * comb(M - total, wrong)


def evidence_on_set(right, wrong, at_least):
    """Mean likelihood of at_least and more right ones over the largest of fewer."""
    above = [drawn(total, right, wrong) for total in range(at_least, M + 1)]
    below = max(drawn(total, right, wrong) for total in range(at_least))
    mean = sum(above) / len(above)
    return mean / below if below else inf if mean else nan


def test_evidence_is_that_of_the_definition():
    grid = [(right, wrong) for right in range(8) for wrong in range(8)]
    rights, wrongs = np.array(grid, float).T
    found = np.exp(evidence_at_least(rights, wrongs, MARK, None))
    assert found == pytest.approx([mixture(*pair, MARK) for pair in grid])
    below = np.exp(evidence_below(rights, wrongs, MARK, None))
    assert below == pytest.approx([mixture(wrong, right, 1 - MARK) for right, wrong in grid])


def test_evidence_on_a_set_is_that_of_the_definition():
    """9 of 12 questions reach the mark of .7, and 4 wrong ones are below."""
    grid = [(right, wrong) for right in range(M + 1) for wrong in range(M + 1 - right)]
    rights, wrongs = np.array(grid, float).T
    found = np.exp(evidence_at_least(rights, wrongs, MARK, M))
    assert found == pytest.approx([evidence_on_set(*pair, 9) for pair in grid])
    below = np.exp(evidence_below(rights, wrongs, MARK, M))
    assert below == pytest.approx([evidence_on_set(wrong, right, 4) for right, wrong in grid])


def test_whole_share_of_the_set_reaches_a_mark_that_is_a_share_of_it():
    """6 of 12 reach the mark of .5."""
    assert evidence_at_least(np.array([6.0]), np.array([6.0]), 0.5, M) == inf
    assert evidence_below(np.array([6.0]), np.array([6.0]), 0.5, M) == -inf


@pytest.mark.parametrize("delta", [0.3, 0.05])
def test_shown_workers_are_those_of_the_closed_test(delta):
    rng = np.random.default_rng(5)
    for _ in range(200):
        pulls = rng.integers(1, 60, 5)
        sums = np.minimum(pulls, np.round(pulls * rng.uniform(0.7, 1, 5)))
        evidence = np.exp(evidence_at_least(sums, pulls - sums, 0.8, None)) * 0.8 * delta
        lacking = np.maximum(1 - evidence, 0)
        rule = [evidence[i] - 1 >= np.delete(lacking, i).sum() for i in range(5)]
        assert show_at_least(sums, pulls, 0.8, delta).tolist() == rule


@pytest.mark.parametrize("delta", [0.3, 0.05])
def test_joiners_share_a_fifth_of_delta_by_their_order(delta):
    """Joiner j needs 1 / (.2 δ w(j)), whoever else joined: its fewest right answers in a row."""
    shares = [1 / (1 + log(j)) - 1 / (1 + log(j + 1)) for j in (1, 2, 3)]
    counts = np.arange(1, 200)
    evidence = np.array([mixture(count, 0, 0.8) for count in counts])
    for number, share in enumerate(shares):
        fewest = int(counts[(evidence >= 1 / (0.2 * delta * share)).argmax()])
        for answers in (fewest - 1, fewest):
            pulls = np.ones(5)
            pulls[2 + number] = answers
            shown = show_at_least(pulls, pulls, 0.8, delta, joined=3)
            assert shown[2 + number] == (answers == fewest)


def test_forecast_counts_with_the_share_of_the_start():
    """One of 21 workers, of whom the others show nothing: 21 / .8 δ."""
    counts = np.arange(1, 400)
    evidence = np.array([mixture(0.95 * count, 0.05 * count, 0.8) for count in counts])
    needed = int(counts[(evidence >= 21 / (0.8 * 0.05)).argmax()])
    assert expected_answers(0.95, 0.8, 21, 0.05) == needed
    assert expected_answers(0.9, 0.8, 21, 0.05) > needed


def test_worker_below_mark_and_tolerance_is_settled_and_one_between_is_not():
    sums = np.array([1700.0, 1640])
    assert is_settled(sums, [2000, 2000], 0.8, 0.05, 0.05).tolist() == [True, False]
    assert is_settled([1500.0], [2000], 0.8, 0.05, 0.05).tolist() == [True]
