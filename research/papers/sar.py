"""Bubeck, Wang, Viswanathan 2013: error probability against m on six instances.

Means and budgets are those of Audibert, Bubeck, Munos 2010: our copy lacks the paper's own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from research.cells import Floats
from topk.instances import SAR_EXPERIMENTS, Experiment

from .cells import Cell
from .claims import ALWAYS, MOSTLY, OFTEN, Claim, Reach, errs_less, errs_less_on_average
from .plots import Figure, Panel, lines_by_series
from .rows import Row

RUNS = 1000
QUICK_RUNS = 40
EXPLORATIONS = (1, 2, 4)
MOST_MS = 9
SWEEP = (0.5, 2, 4, 8)  # times the budget, at one m of each experiment

UNIFORM, SAR = "Uniform", "SAR"
SR_PLAIN, SR_WHOLE = "SR, schedule cut short", "SR, schedule renormalised"


def gap_e(c: int) -> str:
    return f"Gap-E, c = {c}"


def build_cells(quick: bool, runs: int | None) -> list[Cell]:
    plays = runs or (QUICK_RUNS if quick else RUNS)
    return [
        cell
        for number, experiment in SAR_EXPERIMENTS.items()
        for m, budget in _budget_points(experiment, quick)
        for cell in _point_cells(number, experiment, m, budget, plays)
    ]


def _budget_points(experiment: Experiment, quick: bool) -> list[tuple[int, int]]:
    """Return pairs of m and budget."""
    n = len(experiment.means)
    middle = [(middle_m(n), round(factor * experiment.budget)) for factor in SWEEP]
    if quick:
        return [(m, experiment.budget) for m in sorted({2, middle_m(n), n - 1})]
    return [(m, experiment.budget) for m in main_ms(n)] + middle


def main_ms(n: int) -> list[int]:
    """Return m = 2 .. n - 1 in the least equal steps with at most ``MOST_MS`` points."""
    step = -(-(n - 2) // MOST_MS)
    return list(range(2, n, step))


def middle_m(n: int) -> int:
    return n // 2


def _point_cells(number: int, experiment: Experiment, m: int, budget: int, runs: int) -> list[Cell]:
    means = tuple(experiment.means)
    rate = budget / hardness(np.array(means), m)
    players: list[tuple[str, str, dict[str, Any]]] = [
        (UNIFORM, "uniform", {}),
        (SR_PLAIN, "sr", {"schedule": "plain"}),
        (SR_WHOLE, "sr", {"schedule": "renormalised"}),
        (SAR, "sar", {}),
        *((gap_e(c), "gap-e", {"exploration": c * rate}) for c in EXPLORATIONS),
    ]
    return [
        Cell(str(number), series, name, means, m, runs, budgets=(budget,), options=options)
        for series, name, options in players
    ]


def hardness(means: Floats, m: int) -> float:
    """Return H_1 for the best m: the sum of gap^-2 over arms with a gap."""
    ordered = np.sort(means)[::-1]
    gaps = np.where(np.arange(ordered.size) < m, ordered - ordered[m], ordered[m - 1] - ordered)
    return float((gaps[gaps > 0] ** -2.0).sum())


# -- claims


def check_claims(rows: Sequence[Row]) -> list[Claim]:
    budgets = {(str(number), setup.budget) for number, setup in SAR_EXPERIMENTS.items()}
    main = [row for row in rows if (row.experiment, row.budget) in budgets]
    sweep = [row for row in rows if row not in main]
    best = "SAR always outperforms uniform sampling."
    claims = [*_paired_claims(best, ALWAYS, main, SAR, UNIFORM)]
    if sweep:
        where = "at 1/2, 2, 4 and 8 times the budget, m = n/2"
        outcomes = errs_less_on_average(sweep, SAR, UNIFORM, "budget")
        claims.append(
            Claim(best, f"SAR errs less than Uniform on average, {where}", ALWAYS, outcomes)
        )
    for c in EXPLORATIONS:
        claims += _paired_claims(
            "Gap-E performs slightly better than SAR.", MOSTLY, main, gap_e(c), SAR
        )
    for series in (SR_PLAIN, SR_WHOLE):
        claim = "SR is worse than uniform sampling in many cases, for m > 1."
        claims += _paired_claims(claim, OFTEN, main, UNIFORM, series)
    return claims


def _paired_claims(
    said: str, reach: Reach, rows: Sequence[Row], left: str, right: str
) -> list[Claim]:
    """Return two claims: point by point, and on average over m."""
    reading = f"{left} errs less than {right}"
    every = errs_less(rows, left, right)
    average = errs_less_on_average(rows, left, right, "k")
    return [
        Claim(said, f"{reading}, at every m played", reach, every),
        Claim(said, f"{reading}, on average over m, in each experiment", reach, average),
    ]


# -- figures


def draw_figures(rows: Sequence[Row]) -> list[Figure]:
    main, sweep = [], []
    for number, setup in SAR_EXPERIMENTS.items():
        mine = [row for row in rows if row.experiment == str(number)]
        title = f"{number}: {setup.title.lower()}"
        usual = [row for row in mine if row.budget == setup.budget]
        main.append(Panel(f"{title}, Q = {setup.budget}", lines_by_series(usual, "k", "error")))
        middle = [row for row in mine if row.k == middle_m(row.n)]
        heading = f"{title}, m = {middle_m(len(setup.means))}"
        sweep.append(Panel(heading, lines_by_series(middle, "budget", "error")))
    return [
        Figure("error", "m", "error probability", main, columns=3),
        Figure("budgets", "budget", "error probability", sweep, columns=3, log_x=True),
    ]
