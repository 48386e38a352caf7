"""Spammers added to recorded crowds: ``python -m research.spammers FOLDER`` prints a table."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topk.simulate import simulate_run

from .cells import Floats
from .tables import markdown_line
from .validation import crowds

SPAMMERS, RULES = (0, 1, 4), ("universal", "certified", "credible")
EPSILON, DELTA, SEED, RUNS, CAP = 0.05, 0.05, 90_000, 4, 50_000

HEAD = f"""\
# Spammers in recorded crowds

This page is made by `python -m research.spammers FOLDER`, of every NAME.csv in the folder with the
known answers in NAME{crowds.GOLD}; do not edit it.

Workers with {crowds.ENOUGH_ANSWERS} recorded answers or more answer as they did: an answer is drawn
from their record, with replacement. **Spammers** besides them are never right. A silent worker is
the same: answers too late count as wrong. K is a fifth of the recorded workers, ε = {EPSILON},
δ = {DELTA}. **Ratio**: of the mean answers to those without a spammer on the same seeds, with its
standard error from the differences of the pairs. **Theirs**: answers of the spammers. **Wrong**:
runs that lost more than ε. **Over**: runs given up at {CAP:,} answers, which count.

| crowd | n | K | rule | spammers | runs | answers | ratio | theirs | wrong | over |
|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Play:
    """A run. theirs: answers of spammers; wrong: lost more than epsilon; over: given up."""

    answers: int
    theirs: int
    wrong: bool
    over: bool


def play(rule: str, means: Floats, spammers: int, k: int, seed: int) -> Play:
    """Play the rule on workers of these accuracies, and so many who are never right."""
    truth = np.append(means, np.zeros(spammers))
    settings: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "max_pulls": CAP}
    outcome = simulate_run(rule, truth, k=k, seed=seed, **settings)
    loss = np.sort(truth)[-k:].mean() - truth[outcome.selection].mean()
    theirs = int(outcome.pulls_per_arm[means.size :].sum())
    return Play(
        outcome.pulls, theirs, bool(loss > EPSILON + 1e-9), outcome.reasons != ("guarantee",)
    )


def compare(none: Sequence[Play], plays: Sequence[Play]) -> list[object]:
    """Return the fields of the runs with spammers, beside those without on the same seeds."""
    one, two = (np.array([float(each.answers) for each in runs]) for runs in (none, plays))
    ratio = two.mean() / one.mean()
    error = (two - ratio * one).std(ddof=1) / one.size**0.5 / one.mean()
    theirs = float(np.mean([each.theirs for each in plays]))
    counts = [sum(getattr(each, name) for each in plays) for name in ("wrong", "over")]
    return [one.size, f"{two.mean():,.0f}", f"{ratio:.2f} ± {error:.2f}", f"{theirs:.0f}", *counts]


def write_lines(folder: Path, runs: int) -> Iterator[str]:
    """Yield the lines of the table. Raises Refused for a folder without crowds."""
    for case in crowds.recorded_crowds(folder):
        means = case.means(SEED)
        crowd, seeds = case.name.removeprefix("crowd-"), range(SEED, SEED + runs)
        for rule in RULES:
            plays = {
                spammers: [play(rule, means, spammers, case.k, seed) for seed in seeds]
                for spammers in SPAMMERS
            }
            for spammers, outcomes in plays.items():
                names = [crowd, means.size, case.k, f"`{rule}`", spammers]
                yield markdown_line([*names, *compare(plays[0], outcomes)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser("python -m research.spammers", description=__doc__)
    parser.add_argument("folder", type=Path, help="crowds: NAME.csv and NAME_gold.csv")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each (default: %(default)s)")
    options = parser.parse_args(arguments)
    sys.stdout.write(HEAD)
    for line in write_lines(options.folder, options.runs):
        sys.stdout.write(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
