"""Workers shown to reach a pass mark: false as rarely as stated, and after few answers."""

import numpy as np
import pytest
from scipy.stats import binom

from topk.pass_mark import expected_answers, is_settled, judge_marks, show_at_least, show_below

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
