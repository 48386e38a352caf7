"""Pools to compare rules: usual ones, and pools on which one of the rules is poor."""

from dataclasses import replace

import numpy as np

from topk.instances import synthetic, two_group, uniform

from .cases import CHANCE, Case, beta_case, fixed_case


def list_pools() -> list[Case]:
    """Build all pools, small ones first."""
    return [*small_pools(), *group_pools(), *standouts(), *beta_pools(), *large_pools()]


def small_pools() -> list[Case]:
    """Build pools of up to 50 workers."""
    return [
        fixed_case("even-n8", "Evenly spaced from .9 to .55", np.linspace(0.9, 0.55, 8), 1),
        beta_case(6, 2, 10, 2, 0.05, 0.05),
        beta_case(6, 2, 12, 3, 0.05, 0.05),
        fixed_case("even-n20", "Evenly spaced from .95 to .4", np.linspace(0.95, 0.4, 20), 1),
        beta_case(6, 2, 30, 6, 0.05, 0.05),
        beta_case(12, 3, 30, 6, 0.05, 0.05),
        half_spammers(),
        beta_case(6, 2, 50, 5, 0.05, 0.1),
        groups_of(1, (1, 0.9), (49, 0.7)),
        groups_of(5, (1, 0.99), (49, 0.7)),
    ]


def half_spammers() -> Case:
    """Every second worker answers by chance."""
    return Case(
        *("half-spammers-n30", "Half of Beta(6,2) and half at .5", 30, 6, 0.05, 0.05),
        fixed=(CHANCE,) * 15,
        a=6,
        b=2,
    )


def group_pools() -> list[Case]:
    """Build pools with a gap just at K, or none, which a bell-shaped belief misjudges."""
    apart = np.r_[np.linspace(0.95, 0.85, 20), np.linspace(0.75, 0.6, 80)]
    return [
        groups_of(10, (10, 0.8), (40, 0.65)),
        groups_of(5, (5, 0.95), (45, 0.8)),
        groups_of(20, (20, 0.9), (80, 0.7)),
        groups_of(30, (30, 0.85), (70, 0.68)),
        groups_of(20, (20, 0.9), (40, 0.75), (40, 0.6)),
        groups_of(15, (15, 0.88), (45, 0.72), (40, 0.55)),
        fixed_case("apart-n100", "20 from .95 to .85, 80 from .75 to .6", apart, 20),
        fixed_case("alike-n100", "All at .8", np.full(100, 0.8), 20),
        fixed_case("two-group-n100", "TwoGroup, .7 and .3", two_group(100, 20), 20, 0.1, 0.01),
    ]


def standouts() -> list[Case]:
    """Build pools of nearly equal workers with a few ahead by about epsilon."""
    return [
        groups_of(1, (1, 0.97), (39, 0.9)),
        groups_of(1, (1, 0.87), (39, 0.8)),
        groups_of(4, (4, 0.77), (36, 0.7)),
        replace(groups_of(1, (1, 0.97), (39, 0.9)), name="1-at-0.97-39-at-0.9-fine", epsilon=0.02),
        replace(groups_of(1, (1, 0.928), (39, 0.9)), epsilon=0.02),
    ]


def groups_of(k: int, *groups: tuple[int, float]) -> Case:
    """Build a pool with this many workers at each accuracy."""
    means = np.concatenate([np.full(many, accuracy) for many, accuracy in groups])
    title = ", ".join(f"{many} at {accuracy:g}".replace("0.", ".") for many, accuracy in groups)
    name = "-".join(f"{many}-at-{accuracy:g}" for many, accuracy in groups)
    return fixed_case(f"{name}-k{k}", title, means, k)


def beta_pools() -> list[Case]:
    """Build pools of a hundred workers of one population."""
    shapes = ((6, 2), (12, 3), (2, 2), (1, 1), (20, 5))
    evenly = fixed_case(
        "uniform-n100", "UNIFORM, evenly from 0 to .99", uniform(100), 20, 0.1, 0.01
    )
    return [*(beta_case(a, b, 100, 20, 0.05, 0.05) for a, b in shapes), evenly]


def large_pools() -> list[Case]:
    """Build large instances of Chen, Chen, Zhang, Zhou 2017."""
    evenly, near = "UNIFORM, evenly from 0 to .999", "SYNTHETIC-6, most near the border"
    return [
        fixed_case("uniform-n1000-k100", evenly, uniform(1000), 100, 0.01, 0.01),
        fixed_case("uniform-n1000-k250", evenly, uniform(1000), 250, 0.01, 0.01),
        fixed_case("synthetic-6-n1000", near, synthetic(1000, 500, 6), 500, 0.01, 0.01),
    ]
