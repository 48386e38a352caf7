"""Alarms: their rates in the worst case, their delays, and many workers at once."""

import numpy as np
import pytest
from scipy.stats import binom

from topk.drift import DriftDetector, LastingDetector, observe_each, select_alarms
from topk.problem import ProblemError


def count_answers(detector, rng, accuracy, plays, most=4000):
    """Return (plays,) answers of workers until their alarms; most + 1 without one.

    accuracy  function of the number of the answer and of the last answers
    """
    evidence, ends = detector.begin(plays), np.full(plays, most + 1)
    last, everybody = np.ones(plays, bool), np.arange(plays)
    for number in range(1, most + 1):
        last = rng.random(plays) < accuracy(number, last)
        evidence = detector.observe(evidence, everybody, last)
        ends[detector.alarms(evidence) & (ends > most)] = number
        if ends.max() <= most:
            break
    return ends


def fall_after_100(before, after):
    return lambda number, _: before if number <= 100 else after


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_false_alarms_at_the_level_are_as_rare_as_stated(level):
    detector, rng = DriftDetector(level, 100), np.random.default_rng(5)
    times = count_answers(detector, rng, lambda *_: level, 400)
    assert np.mean(times) > 100 - 4 * np.std(times) / 20
    assert np.mean(times) < 150  # and not needlessly late


def test_dependent_answers_raise_no_more_false_alarms():
    detector, rng = DriftDetector(0.8, 100), np.random.default_rng(6)
    times = count_answers(detector, rng, lambda _, last: np.where(last, 0.9, 0.8), 200)
    assert np.mean(times) > 100


@pytest.mark.parametrize(("after", "most"), [(0.7, 110), (0.6, 46), (0.5, 30)])
def test_falls_from_nine_in_ten_are_reported_soon(after, most):
    detector, rng = DriftDetector(0.8, 2000), np.random.default_rng(11)
    delays = count_answers(detector, rng, fall_after_100(0.9, after), 400) - 100
    assert 0 < np.median(delays) <= most


def test_lasting_detector_keeps_delta_over_all_times():
    detector, rng, plays = LastingDetector(0.8, 0.2), np.random.default_rng(7), 200
    ends = count_answers(detector, rng, lambda *_: 0.8, plays, most=600)
    assert np.sum(ends <= 600) <= binom.ppf(0.9999, plays, 0.2)
    assert np.median(count_answers(detector, rng, fall_after_100(0.8, 0.5), 50)) < 160


@pytest.mark.parametrize("detector", [DriftDetector(0.7, 500), LastingDetector(0.7, 0.1)])
def test_batches_of_workers_equal_single_answers(detector):
    rng = np.random.default_rng(8)
    workers, right = rng.integers(0, 5, 600), rng.random(600) < 0.6
    at_once = detector.observe(detector.begin(5), workers, right)
    one_by_one = detector.begin(5)
    for worker, answer in zip(workers, right, strict=True):
        one_by_one = detector.observe(one_by_one, [worker], [answer])
    assert at_once == pytest.approx(one_by_one)


def test_evidence_stays_after_an_alarm():
    detector = DriftDetector(0.8, 50)
    fallen = detector.observe(detector.begin(2), [0] * 30, [False] * 30)
    assert detector.alarms(fallen).tolist() == [True, False]
    assert (detector.observe(fallen, [0] * 50, [True] * 50) == fallen).all()


def test_alarms_selected_together_are_rarely_false():
    detector, rng = LastingDetector(0.8, 0.1, workers=20), np.random.default_rng(9)
    shares = []
    for _ in range(60):
        accuracies = np.where(np.arange(20) < 6, 0.4, 0.8)
        workers = np.tile(np.arange(20), 80)
        evidence = detector.begin(20)
        evidence = detector.observe(evidence, workers, rng.random(1600) < accuracies[workers])
        chosen = select_alarms(evidence[:, :-1].sum(1), 0.1)
        assert {0, 1, 2, 3, 4, 5} <= set(chosen.tolist())
        shares.append((chosen >= 6).mean())
    assert np.mean(shares) <= 0.1
    assert select_alarms([1.0, 2.0], 0.1).size == 0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: DriftDetector(1.0, 100), "level is 1"),
        (lambda: DriftDetector(0.8, 3), "once_in is 3"),
        (lambda: LastingDetector(0.8, 1.5), "delta is 1.5"),
        (lambda: DriftDetector(0.8, 100).observe(np.zeros((2, 3)), [2], [True]), "between 0 and 1"),
        (lambda: DriftDetector(0.8, 100).observe(np.zeros((2, 3)), [0], []), "needs its worker"),
    ],
)
def test_impossible_values_are_refused(build, words):
    with pytest.raises(ProblemError, match=words):
        build()


def test_workers_with_levels_of_their_own_equal_one_detector_each():
    rng, detectors = np.random.default_rng(4), [DriftDetector(0.6, 50), DriftDetector(0.9, 200)]
    workers, right = rng.integers(0, 2, 400), rng.random(400) < 0.7
    levels = [detector.level for detector in detectors]
    thresholds = [detector.threshold for detector in detectors]
    both = observe_each(np.zeros((2, 3)), workers, right, levels, thresholds)
    for worker, detector in enumerate(detectors):
        own = right[workers == worker]
        alone = detector.observe(detector.begin(1), np.zeros(own.size, int), own)
        assert np.array_equal(both[worker], alone[0])


def count_by_hand(level: float, right: list[bool], lasting: bool, threshold: float) -> float:
    """Sum the evidence as docs/drift.md says it; it stays once it has reached the threshold."""
    evidence = [0.0, 0.0, 0.0]
    for count, good in enumerate(right, 1):
        if sum(evidence) >= threshold:
            break
        share = 1 / (count * (count + 1)) if lasting else 1
        for i, (weight, fall) in enumerate(
            zip((0.7, 0.23, 0.07), (0.875, 0.75, 0.56), strict=True)
        ):
            factor = fall if good else (1 - level * fall) / (1 - level)
            evidence[i] = (evidence[i] + share * weight) * factor
    return sum(evidence)


@pytest.mark.parametrize(
    "detector", [DriftDetector(0.8, 200), LastingDetector(0.6, 0.1, workers=3)]
)
def test_evidence_is_that_of_a_count_by_hand(detector):
    rng = np.random.default_rng(13)
    for accuracy in (0.3, 0.5, 0.7, 0.9):
        right = (rng.random(60) < accuracy).tolist()
        evidence = detector.observe(detector.begin(1), [0] * 60, right)
        by_hand = count_by_hand(detector.level, right, detector.lasting, detector.threshold)
        assert evidence[0, :3].sum() == pytest.approx(by_hand)
        assert detector.alarms(evidence)[0] == (by_hand >= detector.threshold)
    assert LastingDetector(0.6, 0.1, workers=3).threshold == pytest.approx(30)


def test_evidence_at_the_threshold_is_an_alarm_and_stays():
    detector = LastingDetector(0.8, 0.5)
    reached = np.array([[1.0, 0.5, 0.5, 4.0], [1.0, 0.5, 0.4999, 4.0]])
    assert detector.alarms(reached).tolist() == [True, False]
    after = detector.observe(reached, [0, 1], [True, True])
    assert (after[0] == reached[0]).all()
    assert after[1, 3] == 5


def test_share_of_false_alarms_is_kept_exactly_by_equality():
    """k workers are reported together if each has evidence of n / (delta k)."""
    assert select_alarms([20.0, 1.0], 0.1).tolist() == [0]
    assert select_alarms([19.9, 1.0], 0.1).tolist() == []
    assert select_alarms([10.0, 1.0, 10.0, 30.0], 0.2).tolist() == [0, 2, 3]
    assert select_alarms([4.9, 7.4, 7.4], 0.2).tolist() == []
    assert select_alarms([], 0.2).tolist() == []


def test_alarms_that_stay_are_selected_again_while_their_evidence_stays():
    """Hence the bound holds for all alarms so far, at any time (Theorem 3 of docs/drift.md)."""
    rng, n, delta = np.random.default_rng(14), 12, 0.3
    for accuracy in (0.5, 0.7, 0.8):
        detector, reported = LastingDetector(0.8, delta, n), np.zeros(n, bool)
        evidence = detector.begin(n)
        for _ in range(150):
            told = np.flatnonzero(~reported & (rng.random(n) < 0.7))
            evidence = detector.observe(evidence, told, rng.random(told.size) < accuracy)
            now = np.isin(np.arange(n), select_alarms(evidence[:, :3].sum(1), delta))
            assert (now | ~reported).all()
            reported = now


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: DriftDetector(0.0, 100), "level is 0"),
        (lambda: DriftDetector(0.8, 9), "once_in is 9"),
        (lambda: LastingDetector(0.8, 0), "delta is 0"),
        (lambda: LastingDetector(0.8, 1), "delta is 1"),
        (lambda: LastingDetector(0.8, 0.1, 0), "workers is 0"),
        (lambda: DriftDetector(0.8, 100).observe(np.zeros((2, 3)), [-1], [True]), "between 0 and"),
        (lambda: DriftDetector(0.8, 100).observe(np.zeros((2, 3)), [[0]], [[1]]), "needs its"),
    ],
)
def test_values_just_outside_are_refused_and_the_border_is_not(build, words):
    with pytest.raises(ProblemError, match=words):
        build()
    assert DriftDetector(0.8, 10).threshold <= 10
    assert LastingDetector(0.8, 0.1, 1).threshold == pytest.approx(10)
