"""Costs on the same pools and seeds, docs/validation/pairs: ``python -m research.pairs``."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from topk import Problem
from topk.certified.any_population import prefers_swaps
from topk.simulate import simulate_run

from .cells import Floats
from .tables import markdown_line

SIZES, EPSILONS, DELTA, CAP, SEED = (5, 8, 12, 20, 50), (0.05, 0.1), 0.05, 50_000, 80_000
RUNS, ODD_RUNS = 4, 30
SWAP_RUNS, SWAP_EPSILON, MOST_SWAPPED = 2, 0.1, 12  # both rules are nearly the same there
RULES, POOLS = ("certified", "universal"), ("even", "beta", "equal", "groups", "star")
EVEN = np.linspace(0.9, 0.5, 16)
ODD: dict[str, list[float]] = {
    "none": [],
    "one at 0": [0],
    "one at 1": [1],
    "one at .02": [0.02],
    "four at 0": [0] * 4,
}

HEAD = f"""\
# `universal` and `certified` on the same pools and seeds

This page is made by `python -m research.pairs`; do not edit it.

δ = {DELTA}, seeds from {SEED:,} on. *Even*: evenly from .95 to .55; *beta*: from Beta(6,2), drawn
anew for each seed; *equal*: at .8; *groups*: K at .9, others at .7; *star*: one at .95, others at
.7. **By**: the certificate of `universal`. **Ratio**: of the mean answers, with its standard error
from the differences of the pairs (of two, a rough one). Where *swaps* certify, both rules are the
same but for a tenth of δ: few pairs, and only n ≤ {MOST_SWAPPED}, ε = {SWAP_EPSILON}. **Wrong**:
runs of either rule that lost more than ε. **Over**: runs given up at {CAP:,} answers, which count.

| pool | n | K | ε | by | pairs | `certified` | `universal` | ratio | wrong | over |
|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|
"""
SECOND = """
## Workers who are always wrong, or always right

`universal`, K = 4, ε = .05: 16 workers evenly from .9 to .5, and others besides them on the same
seeds. *Odd*: answers of those others. A silent worker is one at 0: answers too late count as wrong.

| besides | pairs | without | with | ratio | wrong | over | odd |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Play:
    """A run of a rule; without results before it is played.

    odd    answers of odd workers
    wrong  True if the selection lost more than epsilon
    over   True if the run was given up
    """

    pool: str
    n: int
    k: int
    epsilon: float
    rule: str
    seed: int
    answers: int = 0
    odd: int = 0
    wrong: bool = False
    over: bool = False

    def means(self) -> Floats:
        """Return (n,) true accuracies; odd workers are last."""
        if self.pool in ODD:
            return np.append(EVEN, ODD[self.pool])
        place = np.arange(self.n)
        pools: dict[str, Floats] = {
            "even": np.linspace(0.95, 0.55, self.n),
            "beta": np.random.default_rng([self.seed, 1]).beta(6, 2, self.n),
            "equal": np.full(self.n, 0.8),
            "groups": np.where(place < self.k, 0.9, 0.7),
            "star": np.where(place < 1, 0.95, 0.7),
        }
        return pools[self.pool]

    def play(self) -> "Play":
        means, k, epsilon = self.means(), self.k, self.epsilon
        settings: dict[str, Any] = {"delta": DELTA, "seed": self.seed, "max_pulls": CAP}
        result = simulate_run(self.rule, means, k=k, epsilon=epsilon, **settings)
        loss = np.sort(means)[-k:].mean() - means[result.selection].mean()
        odd = int(result.pulls_per_arm[EVEN.size :].sum()) if self.pool in ODD else 0
        wrong, over = bool(loss > epsilon + 1e-9), result.reasons != ("guarantee",)
        return replace(self, answers=result.pulls, odd=odd, wrong=wrong, over=over)


def uses_swaps(cell: Play) -> bool:
    return prefers_swaps(Problem(cell.n, cell.k, cell.epsilon))


def list_cells() -> Iterator[Play]:
    """Yield the cells of the first table, by `universal`, with the first seed."""
    for n, epsilon, pool in product(SIZES, EPSILONS, POOLS):
        for k in sorted({1, 2, n // 4}):
            cell = Play(pool, n, k, epsilon, "universal", SEED)
            if not uses_swaps(cell) or (epsilon == SWAP_EPSILON and n <= MOST_SWAPPED):
                yield cell


def list_odd() -> Iterator[Play]:
    for name, odd in ODD.items():
        yield Play(name, EVEN.size + len(odd), 4, 0.05, "universal", SEED)


def repeat(cell: Play, runs: int) -> list[Play]:
    return [replace(cell, seed=cell.seed + run).play() for run in range(runs)]


def compare(base: Sequence[Play], other: Sequence[Play]) -> list[object]:
    """Return the fields of two rules, or of two pools: costs, their ratio, errors."""
    one, two = (np.array([float(play.answers) for play in plays]) for plays in (base, other))
    ratio = two.mean() / one.mean()
    error = (two - ratio * one).std(ddof=1) / one.size**0.5 / one.mean()
    wrong, over = (
        ", ".join(str(sum(getattr(play, name) for play in plays)) for plays in (base, other))
        for name in ("wrong", "over")
    )
    means = [f"{answers.mean():,.0f}" for answers in (one, two)]
    return [one.size, *means, f"{ratio:.2f} ± {error:.2f}", wrong, over]


def format_pairs(certified: Sequence[Play], universal: Sequence[Play]) -> str:
    cell = universal[0]
    by = "swaps" if uses_swaps(cell) else "populations"
    names = [cell.pool, cell.n, cell.k, f"{cell.epsilon:g}", by]
    return markdown_line([*names, *compare(certified, universal)])


def format_odd(none: Sequence[Play], odd: Sequence[Play]) -> str:
    mean = float(np.mean([play.odd for play in odd]))
    return markdown_line([odd[0].pool, *compare(none, odd), f"{mean:.0f}"])


def main() -> None:
    sys.stdout.write(HEAD)
    for cell in list_cells():
        runs = SWAP_RUNS if uses_swaps(cell) else RUNS
        certified, universal = (repeat(replace(cell, rule=rule), runs) for rule in RULES)
        sys.stdout.write(format_pairs(certified, universal))
    none, *others = (repeat(cell, ODD_RUNS) for cell in list_odd())
    sys.stdout.write(SECOND + "".join(format_odd(none, odd) for odd in others))


if __name__ == "__main__":
    main()
