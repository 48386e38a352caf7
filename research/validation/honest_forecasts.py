"""Ten cases in which the belief is true: the 80 % band should hold four real prices of five."""

from functools import partial

import numpy as np
from scipy.stats import beta

from research.cells import Study

from .cases import Case
from .forecasts import Cell, Row, write_table
from .suite import UNFINISHED, StudySettings

FOLDER, MOST_RUNS, SIMULATED = "forecasts/honest", 25, 60
MOST = 0.8  # of the workers lie in the range that is believed

# (a, b) of the population, workers, K, epsilon, questions, algorithm
CASES = (
    (2, 2, 10, 3, 0.1, 200, "credible"),
    (4, 2, 10, 2, 0.2, 300, "certified"),
    (6, 2, 20, 5, 0.1, 100, "credible"),
    (2, 2, 30, 5, 0.1, 200, "credible"),
    (2, 2, 30, 5, 0.2, 20000, "kl-lucb"),
    (4, 2, 40, 8, 0.15, 200, "certified"),
    (12, 3, 50, 10, 0.1, 100, "credible"),
    (6, 2, 20, 4, 0.2, 20000, "lucb"),
    (6, 2, 100, 20, 0.1, 200, "certified"),
    (2, 2, 150, 10, 0.08, 200, "certified"),
)
DELTA = 0.05

ABOUT = """# Forecast coverage with a correct belief

Made by `python -m research validate --honest`; [results.csv](results.csv) has the same figures.

In each case the believed range contains the middle four fifths of the population of the true pools;
every real run has a pool of its own. A forecast has 60 simulated runs. An 80 % band should contain
70 % to 95 % of the true costs over all cases: it is a little wider than the simulated runs, for
crowds outside any belief.

| case | believed | algorithm | runs | forecast | true median | held | below | above |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of all cases, with the algorithms that were asked for."""
    runs, folder = min(wanted.effort.runs, MOST_RUNS), wanted.out / FOLDER
    cells = [_cell(*case, runs) for case in CASES if case[-1] in wanted.algorithms]
    return Study(cells, Row, folder / UNFINISHED, partial(write_table, folder, ABOUT))


def _cell(
    a: float, b: float, n: int, k: int, epsilon: float, questions: int, algorithm: str, runs: int
) -> Cell:
    title = f"Beta({a:g},{b:g}), n = {n}, K = {k}, ε = {epsilon:g}"
    case = Case(f"honest-{a:g}-{b:g}-n{n}", title, n, k, epsilon, DELTA, a=a, b=b)
    low, high = np.round(beta.ppf([(1 - MOST) / 2, (1 + MOST) / 2], a, b), 2).tolist()
    return Cell(case, algorithm, low, high, runs, questions, SIMULATED)
