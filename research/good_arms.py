"""Table of rules for a pass mark, docs/validation/good-arms: ``python -m research.good_arms``.

These six pools, their marks and K were fixed before our own rules were run on any of them. Ours
are to need fewer answers than the best published rule with the same kind of guarantee (`good-e-bh`:
a mean share) on at least four; on seeds on which nothing was chosen.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topk.registry import SELECTORS
from topk.simulate import Outcome, simulate_run

Pool = Callable[[np.random.Generator], NDArray[np.float64]]

EPSILON, DELTA, PLAYS, MOST, SEED = 0.05, 0.05, 10, 20_000, 6200
SHARE_AT_ONCE = 0.1  # of the pool, asked at once

PAGE = """\
# Rules that find all who reach a pass mark

This page is made by `python -m research.good_arms`; do not edit it.

ε = {epsilon}, δ = {delta}, {plays} plays of each pool, a tenth of the pool asked at once, at most
{most} answers (mean ± standard error). *Selected*, *below*: mean number of selected workers, and
mean share of them whose accuracy is below the mark less ε. *Good*: mean number of workers who reach
the mark. More than {most} answers: some plays had no end. `mark-share` and `good-e-bh` guarantee
the mean share below, `mark-all` that nobody is. The pools were fixed before `mark-share` and
`mark-all` were run on any of them, and nothing was chosen on these seeds.

| pool | mark | K | good | rule | answers | selected | below |
|---|--:|--:|--:|---|--:|--:|--:|
"""


@dataclass(frozen=True)
class Case:
    title: str
    pool: Pool
    mark: float
    k: int


CASES = (
    Case("100 of Beta(6,2)", lambda rng: rng.beta(6, 2, 100), 0.7, 20),
    Case("100 of Beta(6,2)", lambda rng: rng.beta(6, 2, 100), 0.8, 20),
    Case("30 of Beta(6,2)", lambda rng: rng.beta(6, 2, 30), 0.8, 6),
    Case("20 at .9, 80 at .7", lambda rng: np.repeat([0.9, 0.7], [20, 80]), 0.8, 20),
    Case(
        "15 of Beta(6,2), 15 guessing",
        lambda rng: np.r_[rng.beta(6, 2, 15), np.full(15, 0.5)],
        0.7,
        6,
    ),
    Case("30 alike at .6, nobody good", lambda rng: np.full(30, 0.6), 0.8, 6),
)
RULES = [name for name, kind in SELECTORS.items() if kind.takes_mark]


def play(case: Case, rule: str, seed: int) -> tuple[Outcome, NDArray[np.float64]]:
    """Play once: the outcome, and the true accuracies of the pool."""
    truth = case.pool(np.random.default_rng([SEED, seed]))
    limits = {"k": case.k, "epsilon": EPSILON, "delta": DELTA, "max_pulls": MOST}
    slots = max(1, int(SHARE_AT_ONCE * truth.size))
    outcome = simulate_run(rule, truth, mark=case.mark, slots=slots, seed=seed, **limits)  # type: ignore[arg-type]
    return outcome, truth


def measure(case: Case, rule: str) -> list[str]:
    """Measure the cells of a row."""
    plays = [play(case, rule, seed) for seed in range(PLAYS)]
    counts = np.array([outcome.pulls for outcome, _ in plays])
    answers = f"{counts.mean():,.0f} ± {counts.std(ddof=1) / PLAYS**0.5:,.0f}"
    ended = all(outcome.pulls < MOST for outcome, _ in plays)
    good = np.mean([(truth >= case.mark).sum() for _, truth in plays])
    chosen = [truth[outcome.selection] for outcome, truth in plays]
    shares = [float(np.mean(truth < case.mark - EPSILON)) for truth in chosen if truth.size]
    below = np.mean(shares) if shares else 0.0
    return [
        *(case.title, f"{case.mark:g}", str(case.k), f"{good:.1f}", f"`{rule}`"),
        answers if ended else f"over {answers}",
        f"{np.mean([truth.size for truth in chosen]):.1f}",
        f"{below:.3f}",
    ]


def main() -> None:
    settings = {"epsilon": EPSILON, "delta": DELTA, "plays": PLAYS, "most": f"{MOST:,}"}
    sys.stdout.write(PAGE.format(**settings))
    for case in CASES:
        for rule in RULES:
            sys.stdout.write(f"| {' | '.join(measure(case, rule))} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
