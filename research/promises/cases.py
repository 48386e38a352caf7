"""The pools that promises are measured on: fixed ones, populations, and recorded crowds.

Random pools are drawn anew for every run, from a seed of the case and the run alone: all
algorithms meet the same pools.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selection.errors import Refused
from selection.rehearsal import crowd
from topk.instances import two_group, uniform

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]

POPULATIONS = ((6, 2), (12, 3), (2, 2), (1, 1), (20, 5))
JUST_OVER = 1.01
CHANCE = 0.5
ENOUGH_ANSWERS = 50
GOLD = "_gold.csv"


@dataclass(frozen=True)
class Case:
    """Select the best ``k`` of a pool; ``draw`` gives the true accuracy of each of its workers."""

    name: str
    title: str
    n: int
    k: int
    epsilon: float
    delta: float
    draw: Draw

    def means(self, run: int) -> Floats:
        """(n,) the pool of this run."""
        return self.draw(np.random.default_rng([zlib.crc32(self.name.encode()), run]))


def suite(crowds: Path | None = None) -> list[Case]:
    """Every case there is; recorded crowds if their folder is named."""
    recorded = recorded_crowds(crowds) if crowds else []
    return [*populations(), *published(), *adversarial(), spammers(), *recorded]


def named(cases: list[Case], names: Sequence[str]) -> list[Case]:
    """Those of these names, or all. Raises Refused for a name that is none."""
    known = [case.name for case in cases]
    for name in names:
        if name not in known:
            raise Refused(f"There is no case “{name}”; there are {', '.join(known)}.")
    return [case for case in cases if case.name in names or not names]


def populations() -> list[Case]:
    shapes = ((100, 20, 0.05), (50, 5, 0.1))
    return [beta(a, b, n, k, 0.05, delta) for n, k, delta in shapes for a, b in POPULATIONS]


def beta(a: float, b: float, n: int, k: int, epsilon: float, delta: float) -> Case:
    """Accuracies from a Beta population, drawn anew for every run."""
    title = f"Accuracies from Beta({a:g},{b:g})"
    name = f"beta-{a:g}-{b:g}-n{n}-k{k}-e{epsilon:g}"
    return Case(name, title, n, k, epsilon, delta, lambda rng: rng.beta(a, b, n))


def published() -> list[Case]:
    """The instances of Chen, Chen, Zhang, Zhou 2017."""
    return [
        fixed("two-group-n100", "TwoGroup, .7 and .3", two_group(100, 20), 20, 0.1, 0.01),
        fixed("uniform-n100", "UNIFORM, evenly from 0 to .99", uniform(100), 20, 0.1, 0.01),
        fixed("two-group-n1000", "TwoGroup, .7 and .3", two_group(1000, 250), 250, 0.05, 0.01),
    ]


def adversarial() -> list[Case]:
    """Pools on which an algorithm that stops too soon is caught."""
    over = JUST_OVER * 0.05
    equal, sure = np.full(100, CHANCE), (np.arange(100) < 20).astype(float)
    return [
        fixed("all-equal", "All alike, .5", equal, 20),
        fixed("one-over", "One worker 1.01 ε above the rest", raised(100, 1, over), 1),
        fixed("one-far-over", "One worker 1.01 K ε above the rest", raised(100, 1, 5 * over), 5),
        fixed("k-over", "K workers 1.01 ε above the rest", raised(100, 20, over), 20),
        fixed("sure", "K workers always right, the rest never", sure, 20),
    ]


def raised(n: int, many: int, by: float) -> Floats:
    """``many`` workers better than chance by this much, the rest at chance."""
    return np.where(np.arange(n) < many, CHANCE + by, CHANCE)


def spammers() -> Case:
    """Every tenth worker answers by chance."""

    def draw(rng: np.random.Generator) -> Floats:
        return np.append(rng.beta(6, 2, 90), np.full(10, CHANCE))

    return Case("spammers", "Beta(6,2) and 10 % spammers at .5", 100, 20, 0.05, 0.05, draw)


def fixed(
    name: str, title: str, means: Floats, k: int, epsilon: float = 0.05, delta: float = 0.05
) -> Case:
    """The same pool in every run."""
    return Case(name, title, means.size, k, epsilon, delta, lambda rng: means)


# -- recorded crowds


def recorded_crowds(folder: Path) -> list[Case]:
    """A case for every NAME.csv with a NAME_gold.csv beside it. Raises Refused."""
    golds = sorted(folder.glob(f"*{GOLD}"))
    if not golds:
        raise Refused(f"{folder} has no crowd: no NAME.csv with NAME{GOLD}.")
    return [recorded(gold.name.removesuffix(GOLD), gold) for gold in golds]


def recorded(name: str, gold: Path) -> Case:
    """Recorded answers drawn with replacement: each is right as often as in the record."""
    past = crowd.read(gold.with_name(f"{name}.csv"), gold)
    means = np.array(list(enough(past.right.values())))
    if means.size < 10:
        raise Refused(f"{name} has fewer than 10 workers with {ENOUGH_ANSWERS} answers.")
    return fixed(f"crowd-{name}", f"Recorded crowd {name}", means, means.size // 5)


def enough(right: Iterable[list[bool]]) -> Iterable[float]:
    """The recorded accuracy of everybody with answers enough to have one."""
    return (sum(answers) / len(answers) for answers in right if len(answers) >= ENOUGH_ANSWERS)
