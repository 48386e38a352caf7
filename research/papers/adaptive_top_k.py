"""Chen, Chen, Zhang, Zhou 2017: probability of an aggregate regret above .01 against the budget.

n = 1000, delta = .01. The budgets are ours, because our copy lacks the axes of the figures.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from research.cells import Floats
from topk import instances

from .cells import Cell
from .claims import (
    ALWAYS,
    MOSTLY,
    Claim,
    Outcome,
    errs_less_on_average,
    informative_pairs,
    is_less,
    matched_rows,
    mean_lead,
)
from .plots import Figure, Panel, lines_by_series
from .rows import Row

RUNS = 200
QUICK_RUNS = 5
N, EPSILON = 1000, 0.01
KS = (100, 250, 500)
BUDGETS = (10_000, 15_000, 20_000, 30_000, 40_000, 60_000)
QUICK_BUDGETS = (15_000, 30_000, 60_000)

TWO_GROUP, UNIFORM_MEANS = "TWOGROUP", "UNIFORM"
SYNTHETIC_HALF, SYNTHETIC_6 = "SYNTHETIC-.5", "SYNTHETIC-6"
FAMILIES = (TWO_GROUP, SYNTHETIC_HALF, UNIFORM_MEANS, SYNTHETIC_6)

ADAPTIVE, SHORTENED = "AdaptiveTopK", "AdaptiveTopK, rounds / 64"
CLUCB = "CLUCB-PAC, no stop"
OPT_MAI, OPT_MAI_8 = "OptMAI, beta = .916", "OptMAI, beta = .8"
UNIFORM = "Uniform"
PLAYERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (ADAPTIVE, "adaptive-top-k-budget", {}),
    (SHORTENED, "adaptive-top-k-budget", {"c_round": 1 / 64}),
    (OPT_MAI, "opt-mai-budget", {}),
    (OPT_MAI_8, "opt-mai-budget", {"beta": 0.8}),
    (UNIFORM, "uniform", {}),
)


def build_cells(quick: bool, runs: int | None) -> list[Cell]:
    plays = runs or (QUICK_RUNS if quick else RUNS)
    budgets = QUICK_BUDGETS if quick else BUDGETS
    return [
        cell
        for family in FAMILIES
        for k in KS
        for cell in _instance_cells(family, k, budgets, plays)
    ]


def means_of(family: str, k: int) -> Floats:
    if family == TWO_GROUP:
        return instances.two_group(N, k)
    if family == UNIFORM_MEANS:
        return instances.uniform(N)
    return instances.synthetic(N, k, 0.5 if family == SYNTHETIC_HALF else 6)


def _instance_cells(family: str, k: int, budgets: tuple[int, ...], runs: int) -> list[Cell]:
    means = tuple(means_of(family, k).tolist())
    cell = partial(Cell, family, means=means, k=k, runs=runs, tolerance=EPSILON)
    return [
        cell(series=series, algorithm=name, budgets=(budget,), options=options)
        for series, name, options in PLAYERS
        for budget in budgets
    ] + [cell(series=CLUCB, algorithm="clucb-pac", budgets=budgets, anytime=True)]


# -- claims


def check_claims(rows: Sequence[Row]) -> list[Claim]:
    ours = (ADAPTIVE, SHORTENED)
    claims = [claim for series in ours for claim in _against_clucb(rows, series)]
    for rival in (OPT_MAI, OPT_MAI_8):
        claims.append(_small_k(rows, rival))
        for series in ours:
            claims += _against_opt_mai(rows, series, rival)
    return claims


def _against_clucb(rows: Sequence[Row], series: str) -> list[Claim]:
    reading = f"{series} errs less than {CLUCB} on average, at every K"
    two = [row for row in rows if row.experiment == TWO_GROUP]
    return [
        Claim(
            "AdaptiveTopK outperforms CLUCB-PAC on almost all data sets.",
            reading,
            MOSTLY,
            errs_less_on_average(rows, series, CLUCB, "budget"),
        ),
        Claim(
            "On TWOGROUP, AdaptiveTopK outperforms the others for all K.",
            reading,
            ALWAYS,
            errs_less_on_average(two, series, CLUCB, "budget"),
        ),
    ]


def _small_k(rows: Sequence[Row], rival: str) -> Claim:
    small = [row for row in rows if row.k == KS[0] and row.experiment != TWO_GROUP]
    return Claim(
        "When K is small, OptMAI is best on most data sets.",
        f"{rival} errs less than {ADAPTIVE} on average, K = {KS[0]}, TWOGROUP aside",
        MOSTLY,
        errs_less_on_average(small, rival, ADAPTIVE, "budget"),
    )


def _against_opt_mai(rows: Sequence[Row], series: str, rival: str) -> list[Claim]:
    large = [row for row in rows if row.k == KS[-1]]
    two = [row for row in rows if row.experiment == TWO_GROUP]
    reading = f"{series} errs less than {rival} on average"
    return [
        Claim(
            "When K is large, AdaptiveTopK outperforms OptMAI.",
            f"{reading}, K = {KS[-1]}, on all four sets",
            MOSTLY,
            errs_less_on_average(large, series, rival, "budget"),
        ),
        Claim(
            "On TWOGROUP, AdaptiveTopK outperforms the others for all K.",
            f"{reading}, at every K",
            ALWAYS,
            errs_less_on_average(two, series, rival, "budget"),
        ),
        Claim(
            "On TWOGROUP, its advantage grows with K.",
            f"the lead of {series} over {rival}, averaged over budgets, is greater at the next K",
            ALWAYS,
            _growing_outcomes(two, series, rival),
        ),
        Claim(
            "The advantage is greater at both extremes, p = .5 and p = 6, than between them.",
            f"the lead of {series} over {rival}, averaged over budgets, against that on UNIFORM",
            ALWAYS,
            _greater_at_extremes(rows, series, rival),
        ),
    ]


def _growing_outcomes(rows: Sequence[Row], series: str, rival: str) -> list[Outcome]:
    at = [mean_lead(matched_rows([row for row in rows if row.k == k], series, rival)) for k in KS]
    return [is_less(less, more) for less, more in pairwise(at)]


def _greater_at_extremes(rows: Sequence[Row], series: str, rival: str) -> list[Outcome]:
    def at(family: str, k: int) -> list[tuple[Row, Row]]:
        mine = [row for row in rows if (row.experiment, row.k) == (family, k)]
        return matched_rows(mine, series, rival)

    return [
        is_less(mean_lead(at(UNIFORM_MEANS, k)), mean_lead(at(extreme, k)))
        for extreme in (SYNTHETIC_HALF, SYNTHETIC_6)
        for k in KS
        if informative_pairs(at(extreme, k)) or informative_pairs(at(UNIFORM_MEANS, k))
    ]


# -- figures


def draw_figures(rows: Sequence[Row]) -> list[Figure]:
    panels = []
    for family in FAMILIES:
        for k in KS:
            mine = [row for row in rows if (row.experiment, row.k) == (family, k)]
            panels.append(Panel(f"{family}, K = {k}", lines_by_series(mine, "budget", "error")))
    return [Figure("failure", "budget", "failure probability", panels, columns=3)]
