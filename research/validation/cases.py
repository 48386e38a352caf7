"""The pools of the measurements: fixed ones, populations, and recorded crowds.

Random pools are drawn anew for every run, from a seed of the case and the run alone, so that all
algorithms have the same pools.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from research.cells import Floats
from selection.errors import Refused
from topk.instances import two_group, uniform

from .latency import CrowdLatency

POPULATIONS = ((6, 2), (12, 3), (2, 2), (1, 1), (20, 5))
JUST_OVER = 1.01
CHANCE = 0.5


@dataclass(frozen=True)
class Case:
    """Select the best ``k`` of a pool of ``n`` workers.

    fixed    true accuracies that are the same in every run; they are last in the pool
    a, b     the others are drawn anew for every run, from Beta(a, b)
    manner   how the crowd answers, with ``at_once`` open assignments at most; None: at once
    """

    name: str
    title: str
    n: int
    k: int
    epsilon: float
    delta: float
    fixed: Sequence[float] = ()
    a: float = 1.0
    b: float = 1.0
    manner: CrowdLatency | None = None
    at_once: int = 1

    def means(self, run: int) -> Floats:
        """Compute (n,) true accuracies of the pool of this run."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), run])
        return np.append(rng.beta(self.a, self.b, self.n - len(self.fixed)), self.fixed)


def list_cases() -> list[Case]:
    """Build all cases except recorded crowds."""
    return [*population_cases(), *published_cases(), *adversarial_cases(), spammer_case()]


def cases_named(cases: list[Case], names: Sequence[str]) -> list[Case]:
    """Build the cases of these names, or all. Raises Refused for an unknown name."""
    options = [case.name for case in cases]
    for name in names:
        if name not in options:
            raise Refused(f"There is no case “{name}”; there are {', '.join(options)}.")
    return [case for case in cases if case.name in names or not names]


def population_cases() -> list[Case]:
    shapes = ((100, 20, 0.05), (50, 5, 0.1))
    return [beta_case(a, b, n, k, 0.05, delta) for n, k, delta in shapes for a, b in POPULATIONS]


def beta_case(a: float, b: float, n: int, k: int, epsilon: float, delta: float) -> Case:
    """Build a case with accuracies from a Beta population, drawn anew for every run."""
    title = f"Accuracies from Beta({a:g},{b:g})"
    name = f"beta-{a:g}-{b:g}-n{n}-k{k}-e{epsilon:g}"
    return Case(name, title, n, k, epsilon, delta, a=a, b=b)


def published_cases() -> list[Case]:
    """Build the instances of Chen, Chen, Zhang, Zhou 2017."""
    return [
        fixed_case("two-group-n100", "TwoGroup, .7 and .3", two_group(100, 20), 20, 0.1, 0.01),
        fixed_case("uniform-n100", "UNIFORM, evenly from 0 to .99", uniform(100), 20, 0.1, 0.01),
        fixed_case("two-group-n1000", "TwoGroup, .7 and .3", two_group(1000, 250), 250, 0.05, 0.01),
    ]


def adversarial_cases() -> list[Case]:
    """Build pools that show if an algorithm stops too soon."""
    over = JUST_OVER * 0.05
    equal, sure = np.full(100, CHANCE), (np.arange(100) < 20).astype(float)
    return [
        fixed_case("all-equal", "All alike, .5", equal, 20),
        fixed_case("one-over", "One worker 1.01 ε above the rest", raised_means(100, 1, over), 1),
        fixed_case(
            "one-far-over", "One worker 1.01 K ε above the rest", raised_means(100, 1, 5 * over), 5
        ),
        fixed_case("k-over", "K workers 1.01 ε above the rest", raised_means(100, 20, over), 20),
        fixed_case("sure", "K workers always right, the rest never", sure, 20),
    ]


def raised_means(n: int, many: int, by: float) -> Floats:
    """Compute (n,) accuracies: ``many`` above chance by this much, the rest at chance."""
    return np.where(np.arange(n) < many, CHANCE + by, CHANCE)


def spammer_case() -> Case:
    """Build a case in which every tenth worker guesses."""
    title = "Beta(6,2) and 10 % spammers at .5"
    return Case("spammers", title, 100, 20, 0.05, 0.05, (CHANCE,) * 10, a=6, b=2)


def fixed_case(
    name: str, title: str, means: Floats, k: int, epsilon: float = 0.05, delta: float = 0.05
) -> Case:
    """Build a case with the same pool in every run."""
    return Case(name, title, means.size, k, epsilon, delta, tuple(means.tolist()))
