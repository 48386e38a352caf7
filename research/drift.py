"""Table of alarms on falling workers, docs/validation/drift: ``python -m research.drift``."""

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topk.drift import DriftDetector, LastingDetector

Answers = NDArray[np.bool_]  # (plays, answers) True for a right one
Rule = Callable[[Answers], NDArray[np.int64]]  # to (plays,) numbers of answers before the alarm

LEVEL, BEFORE, FALLS, GOOD = 0.8, 0.9, (0.7, 0.6, 0.5), 100
PLAYS, MOST, SEED = 1000, 3000, 4100
WINDOW, DROP = 20, 0.15

PAGE = """\
# Alarms on workers whose accuracy falls

This page is made by `python -m research.drift`; do not edit it.

Level 80 %. *False*: share of {plays} workers with an alarm within {most} answers although their
accuracy stays at 80 % (the worst case) or at 90 %. *To*: gold answers until the alarm, median and
90 % quantile, after 100 answers at 90 % and a fall, of workers without an alarm before. The windows
have no level: they compare the last {window} answers with a mark, or with the first {window}.

| rule | false at 80 % | false at 90 % | to 70 % | to 60 % | to 50 % |
|---|--:|--:|--:|--:|--:|
"""


def detect(detector: DriftDetector | LastingDetector) -> Rule:
    def find(right: Answers) -> NDArray[np.int64]:
        plays, most = right.shape
        evidence, ends = detector.begin(plays), np.full(plays, most + 1)
        for number in range(most):
            evidence = detector.observe(evidence, np.arange(plays), right[:, number])
            ends[detector.alarms(evidence) & (ends > most)] = number + 1
        return ends

    return find


def compare_window(mark: float | None) -> Rule:
    """Alarm if the last answers are worse than the mark, or than the first by DROP."""

    def find(right: Answers) -> NDArray[np.int64]:
        sums = np.cumsum(np.pad(right, ((0, 0), (1, 0))), axis=1)
        means: NDArray[np.float64] = np.asarray((sums[:, WINDOW:] - sums[:, :-WINDOW]) / WINDOW)
        marks = means[:, :1] - DROP if mark is None else np.full((1, 1), mark)
        low: Answers = means <= marks + 1e-9 if mark is None else means < marks - 1e-9
        ends: NDArray[np.int64] = np.full(len(right), right.shape[1] + 1)
        ends[low.any(1)] = low.argmax(1)[low.any(1)] + WINDOW
        return ends

    return find


def sum_evidence(after: float, threshold: float) -> Rule:
    """CUSUM (Page, 1954) of a known fall from the level."""
    wrong, good = np.log((1 - after) / (1 - LEVEL)), np.log(after / LEVEL)

    def find(right: Answers) -> NDArray[np.int64]:
        plays, most = right.shape
        total, ends = np.zeros(plays), np.full(plays, most + 1)
        for number in range(most):
            total = np.maximum(total, 0) + np.where(right[:, number], good, wrong)
            ends[(total >= threshold) & (ends > most)] = number + 1
        return ends

    return find


def calibrate_sum(after: float, once_in: int) -> float:
    """Return the threshold with this mean time until an alarm at the level, by simulation."""
    draws = np.random.default_rng(SEED - 1).random((400, 8 * once_in)) < LEVEL
    thresholds = np.linspace(2.0, 8.0, 61)
    times = [sum_evidence(after, threshold)(draws).mean() for threshold in thresholds]
    return float(thresholds[np.searchsorted(times, once_in)])


def list_rules() -> dict[str, Rule]:
    rules = {f"CUSUM, told of a fall to {after:.0%}": after for after in (0.7, 0.5)}
    return {
        "our detector, once in 2,000": detect(DriftDetector(LEVEL, 2000)),
        "our detector, once in 500": detect(DriftDetector(LEVEL, 500)),
        "our detector, never with 95 %": detect(LastingDetector(LEVEL, 0.05)),
        **{
            f"{name}, once in 2,000": sum_evidence(after, calibrate_sum(after, 2000))
            for name, after in rules.items()
        },
        f"last {WINDOW} below 80 %": compare_window(LEVEL),
        f"last {WINDOW} below 65 %": compare_window(LEVEL - DROP),
        f"15 points below the first {WINDOW}": compare_window(None),
    }


def measure(rule: Rule) -> list[str]:
    """Return the cells of a rule's row."""
    rng, cells = np.random.default_rng(SEED), list[str]()
    for accuracy in (LEVEL, BEFORE):
        cells.append(f"{(rule(rng.random((PLAYS, MOST)) < accuracy) <= MOST).mean():.3f}")
    for after in FALLS:
        draws = rng.random((PLAYS, GOOD + 1000))
        draws[:, :GOOD] += after - BEFORE
        delays = rule(draws < after) - GOOD
        median, late = np.quantile(delays[delays > 0], (0.5, 0.9))
        cells.append(f"{median:.0f} ({late:.0f})")
    return cells


def main() -> None:
    sys.stdout.write(PAGE.format(plays=f"{PLAYS:,}", most=f"{MOST:,}", window=WINDOW))
    for name, rule in list_rules().items():
        sys.stdout.write(f"| {' | '.join([name, *measure(rule)])} |\n")


if __name__ == "__main__":
    main()
