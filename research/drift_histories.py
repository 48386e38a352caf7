"""Alarms on recorded crowds, docs/validation/drift/histories.md.

python -m research.drift_histories FOLDER

FOLDER has zencrowd_all.csv, cf_amt.csv and bluebird.csv (worker, task, label; a worker's answers in
their order), and NAME_gold.csv (task, label) of each.
"""

import csv
import sys
from dataclasses import dataclass
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topk.drift import DriftDetector, LastingDetector

from .drift import DROP, WINDOW, Rule, compare_window, detect

CROWDS = ("zencrowd_all", "cf_amt", "bluebird")
LEAST, LESS, ORDERS, AFTER, SEED = 100, 0.05, 20, 50, 5200

PAGE = """\
# Alarms on recorded crowds

This page is made by `python -m research.drift_histories FOLDER`; do not edit it.

Workers with {least} answers or more. The level of each is their share of right answers in the
whole history less 5 points, so that they keep it on average. *As recorded*: share of these workers
with an alarm, in the order of the file (which has no times). *Shuffled*: the same in {orders}
random orders, in which nobody falls, so that every alarm is false. *After*: share right of the next
{after} answers after an alarm as recorded, less the level, in points, and the number of such
alarms: below 0 where the worker stayed below the level, about 5 where not; a dash where none had so
many.

In `bluebird` everybody answers the same questions in the same order, and a stretch of them is hard:
the alarms as recorded are about the gold, not about a worker. Questions have to come in random
order.

| crowd | workers | answers | rule | as recorded | shuffled | after |
|---|--:|--:|---|--:|--:|--:|
"""


@dataclass(frozen=True)
class History:
    """Right and wrong answers of a worker, in their order, and the level to keep."""

    right: NDArray[np.bool_]

    @property
    def level(self) -> float:
        return min(0.99, max(0.05, floor(100 * (float(self.right.mean()) - LESS) + 1e-6) / 100))


def read_histories(folder: Path, name: str) -> list[History]:
    with (folder / f"{name}_gold.csv").open() as file:
        gold = {row["task"]: row["label"] for row in csv.DictReader(file)}
    answers: dict[str, list[bool]] = {}
    with (folder / f"{name}.csv").open() as file:
        for row in csv.DictReader(file):
            if row["task"] in gold:
                answers.setdefault(row["worker"], []).append(row["label"] == gold[row["task"]])
    return [History(np.array(right)) for right in answers.values() if len(right) >= LEAST]


def list_rules(level: float, workers: int) -> dict[str, Rule]:
    return {
        "our detector, once in 2,000": detect(DriftDetector(level, 2000)),
        "our detector, never with 95 %": detect(LastingDetector(level, 0.05, workers)),
        f"last {WINDOW} below the level": compare_window(level),
        f"last {WINDOW} 15 points below the level": compare_window(level - DROP),
        f"15 points below the first {WINDOW}": compare_window(None),
    }


def measure(histories: list[History]) -> dict[str, list[str]]:
    """Measure the cells of each rule on a crowd."""
    rng = np.random.default_rng(SEED)
    recorded, shuffled = dict[str, list[bool]](), dict[str, list[float]]()
    after: dict[str, list[float]] = {}
    for history in histories:
        right, most = history.right, history.right.size
        orders = np.array([right, *(rng.permutation(right) for _ in range(ORDERS))])
        for name, rule in list_rules(history.level, len(histories)).items():
            ends = rule(orders)
            recorded.setdefault(name, []).append(bool(ends[0] <= most))
            shuffled.setdefault(name, []).append(float((ends[1:] <= most).mean()))
            following = right[ends[0] : ends[0] + AFTER]
            if following.size == AFTER:
                after.setdefault(name, []).append(100 * (following.mean() - history.level))
    return {
        name: [
            f"{np.mean(values):.2f}",
            f"{np.mean(shuffled[name]):.3f}",
            describe(after.get(name)),
        ]
        for name, values in recorded.items()
    }


def describe(points: list[float] | None) -> str:
    return f"{np.mean(points):+.0f} ({len(points)})" if points else "–"


def main(folder: str) -> None:
    sys.stdout.write(PAGE.format(least=LEAST, orders=ORDERS, after=AFTER))
    for name in CROWDS:
        histories = read_histories(Path(folder), name)
        size = f"{sum(history.right.size for history in histories):,}"
        for rule, cells in measure(histories).items():
            row = (name, str(len(histories)), size, rule, *cells)
            sys.stdout.write(f"| {' | '.join(row)} |\n")


if __name__ == "__main__":
    main(sys.argv[1])
