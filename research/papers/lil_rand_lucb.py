"""Jiang, Li, Qiao 2017: mean number of pulls against the number of arms; Gaussian, nu = .01.

The numbers of arms and of runs, and e of the faithful parameters, are ours: our copy lacks the
figures.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from research.cells import Floats
from topk import instances

from .cells import Cell
from .claims import (
    ALWAYS,
    Claim,
    Outcome,
    exact_estimate,
    is_less,
    matched_rows,
    pulls_alike,
    pulls_less,
    ratio_estimate,
)
from .plots import Figure, Panel, lines_by_series
from .rows import Row

RUNS = {10: 300, 20: 300, 50: 300, 100: 150, 200: 40, 500: 15}  # for each N, by the cost of a play
QUICK_RUNS = {10: 40, 50: 16, 200: 4}
NU = 0.01

PARAMETERS = FAITHFUL, HEURISTIC = "faithful", "heuristic"
SPARSE, EXPONENTIAL = "1-sparse", "0.3-exponential"
LIL_3, LIL_6 = "lil-exponential 0.3", "lil-exponential 0.6"
TWO, HALF, ONE = "K = 2", "K = N/2", "K = 1"
BEST_K = [(family, k) for family in (SPARSE, EXPONENTIAL) for k in (TWO, HALF)]
BEST_ONE = [(family, ONE) for family in (SPARSE, LIL_3, LIL_6)]

RAND, PLUS, LIL = "lil'RandLUCB", "LUCB++", "lil'LUCB"
COMBINATORIAL, LUCB, UGAPE, LIL_UCB = "lil'CLUCB", "LUCB", "UGapEc", "lil'UCB"
LIL_UCB_SIZE = 50  # faithful lil'UCB costs more than all others together
ITERATED = {
    RAND: "lil-rand-lucb",
    PLUS: "lucb-plus-plus",
    LIL: "lil-lucb",
    COMBINATORIAL: "lil-clucb",
}
CLOCKED = {LUCB: "lucb", UGAPE: "ugape-c"}


def experiment_name(family: str, k: str, parameters: str) -> str:
    return f"{family}, {k}, {parameters}"


def build_cells(quick: bool, runs: int | None) -> list[Cell]:
    plays = QUICK_RUNS if quick else RUNS
    return [
        cell
        for n, usual in plays.items()
        for family, k in BEST_K + BEST_ONE
        for parameters in PARAMETERS
        for cell in _point_cells(family, k, parameters, n, runs or usual)
    ]


def means_of(family: str, n: int, k: int) -> Floats:
    if family == SPARSE:
        return np.where(np.arange(n) < k, 0.5, 0.0)
    if family == EXPONENTIAL:
        return instances.synthetic(n, k, 0.3)
    return 1 - (np.arange(n) / n) ** (0.3 if family == LIL_3 else 0.6)


def _point_cells(family: str, k: str, parameters: str, n: int, runs: int) -> list[Cell]:
    places = {ONE: 1, TWO: 2, HALF: n // 2}[k]
    means = tuple(means_of(family, n, places).tolist())
    title = experiment_name(family, k, parameters)
    lil = dict(ITERATED)
    if k == ONE and (parameters == HEURISTIC or n <= LIL_UCB_SIZE):
        lil[LIL_UCB] = "lil-ucb"
    cell = partial(Cell, title, means=means, k=places, runs=runs, delta=NU, gaussian=True)
    options = {"parameters": parameters}
    cells = [cell(series=series, algorithm=name, options=options) for series, name in lil.items()]
    if parameters == FAITHFUL:
        cells += [cell(series=series, algorithm=name) for series, name in CLOCKED.items()]
    return cells


# -- claims


def check_claims(rows: Sequence[Row]) -> list[Claim]:
    claims = []
    for parameters in PARAMETERS:
        claims += _best_k(rows, parameters)
        claims += _best_one(rows, parameters)
    return [*claims, _tenfold_claim(rows), _overdone_claim(), _never_wrong(rows)]


def _select_rows(
    rows: Iterable[Row], families: Iterable[str], k: str, parameters: str
) -> list[Row]:
    names = {experiment_name(family, k, parameters) for family in families}
    return [row for row in rows if row.experiment in names]


def _fewer_pulls_claim(
    said: str, rows: Sequence[Row], where: str, left: str, rights: Iterable[str]
) -> Claim:
    rights = list(rights)
    outcomes = [outcome for rival in rights for outcome in pulls_less(rows, left, rival)]
    reading = f"{left} pulls less than {', '.join(rights)}, at every N, {where}"
    return Claim(said, reading, ALWAYS, outcomes)


def _best_k(rows: Sequence[Row], parameters: str) -> list[Claim]:
    few = _select_rows(rows, (SPARSE, EXPONENTIAL), TWO, parameters)
    half = _select_rows(rows, (SPARSE, EXPONENTIAL), HALF, parameters)
    clocked = (LUCB,) if parameters == FAITHFUL else ()
    claim = "K = 2: lil'RandLUCB draws significantly fewer samples than the others"
    return [
        _fewer_pulls_claim(f"{claim} (LUCB++).", few, parameters, RAND, (PLUS,)),
        _fewer_pulls_claim(
            f"{claim} (all but LUCB++).", few, parameters, RAND, (LIL, COMBINATORIAL, *clocked)
        ),
        Claim(
            "K = 2: especially with many arms.",
            f"lil'RandLUCB's pulls over LUCB++'s are less at the most arms, {parameters}",
            ALWAYS,
            _growing_outcomes(few),
        ),
        _fewer_pulls_claim(
            "K = N/2: lil'RandLUCB outperforms LUCB and lil'CLUCB.",
            half,
            parameters,
            RAND,
            (*clocked, COMBINATORIAL),
        ),
        Claim(
            "K = N/2: it performs like LUCB++.",
            f"their pulls are alike at every N, {parameters}",
            ALWAYS,
            pulls_alike(half, RAND, PLUS),
        ),
        Claim(
            "K = N/2: LUCB++ coincides with lil'LUCB.",
            f"their pulls are alike at every N, {parameters}",
            ALWAYS,
            pulls_alike(half, PLUS, LIL),
        ),
    ]


def _growing_outcomes(rows: Sequence[Row]) -> list[Outcome]:
    """Compare the ratio to LUCB++ at the most arms with that at the least, on each family."""
    outcomes = []
    for family in sorted({row.experiment for row in rows}):
        mine = [pair for pair in matched_rows(rows, RAND, PLUS) if pair[0].experiment == family]
        mine.sort(key=lambda pair: pair[0].n)
        outcomes.append(is_less(ratio_estimate(*mine[-1]), ratio_estimate(*mine[0])))
    return outcomes


def _best_one(rows: Sequence[Row], parameters: str) -> list[Claim]:
    clear = _select_rows(rows, (SPARSE, LIL_3), ONE, parameters)
    close = _select_rows(rows, (LIL_6,), ONE, parameters)
    clocked = (LUCB,) if parameters == FAITHFUL else (LIL_UCB,)
    claim = "K = 1: lil'RandLUCB significantly outperforms all others on 1-sparse and alpha = .3"
    return [
        _fewer_pulls_claim(f"{claim} (LUCB++).", clear, parameters, RAND, (PLUS,)),
        _fewer_pulls_claim(
            f"{claim} (the rest).", clear, parameters, RAND, (LIL, COMBINATORIAL, *clocked)
        ),
        Claim(
            "K = 1, alpha = .6: lil'RandLUCB and LUCB++ perform alike.",
            f"their pulls are alike at every N, {parameters}",
            ALWAYS,
            pulls_alike(close, RAND, PLUS),
        ),
    ]


def _tenfold_claim(rows: Sequence[Row]) -> Claim:
    one = _select_rows(rows, (SPARSE, LIL_3, LIL_6), ONE, FAITHFUL)
    pairs = matched_rows(one, RAND, LIL_UCB)
    return Claim(
        "Faithful lil'UCB is worse than the others by an order of magnitude.",
        "its pulls are more than 5 times those of lil'RandLUCB, at N up to 50",
        ALWAYS,
        [is_less(exact_estimate(5), ratio_estimate(slow, quick)) for quick, slow in pairs],
    )


def _overdone_claim() -> Claim:
    return Claim(
        "Balancing by a deterministic rule, as UGapE does, is no better than pulling both arms.",
        "not compared: it would take both rules with one radius, and UGapEc's is not LUCB's",
        ALWAYS,
        [],
    )


def _never_wrong(rows: Sequence[Row]) -> Claim:
    wrong = sum(row.failures for row in rows)
    return Claim(
        "No algorithm ever named a wrong set.",
        f"{wrong} of {sum(row.runs for row in rows):,} plays failed",
        ALWAYS,
        [is_less(exact_estimate(wrong), exact_estimate(0.5))],
    )


# -- figures


def draw_figures(rows: Sequence[Row]) -> list[Figure]:
    groups = {"best-k": BEST_K, "best-1": BEST_ONE}
    return [
        Figure(name, "N", "mean pulls per arm", _build_panels(rows, group), columns=2, log_x=True)
        for name, group in groups.items()
    ]


def _build_panels(rows: Sequence[Row], group: Iterable[tuple[str, str]]) -> list[Panel]:
    titles = [experiment_name(*pair, parameters) for pair in group for parameters in PARAMETERS]
    lines = [row for row in rows if row.series != LIL_UCB or HEURISTIC in row.experiment]
    return [
        Panel(
            title, lines_by_series([row for row in lines if row.experiment == title], "n", "pulls")
        )
        for title in titles
    ]
