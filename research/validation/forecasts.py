"""Coverage of forecasts: how often the band contains the cost on pools unknown to the belief."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import django
import numpy as np

from research import tables
from research.cells import Study

from . import report
from .cases import Case
from .suite import TABLE, UNFINISHED, StudySettings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
django.setup()

from selection.forecast import Plan, RangeBelief  # noqa: E402
from selection.forecast.bands import prediction_band  # noqa: E402
from selection.forecast.candidates import Contender  # noqa: E402
from selection.forecast.simulations import draw_pool, simulate_run  # noqa: E402

# A range that a requester could believe in, in round numbers.
BELIEVED = {
    "beta-6-2-n50-k5-e0.05": (0.6, 0.9),
    "beta-12-3-n50-k5-e0.05": (0.65, 0.9),
    "beta-2-2-n50-k5-e0.05": (0.2, 0.8),
    "beta-20-5-n50-k5-e0.05": (0.7, 0.9),
    "two-group-n100": (0.3, 0.7),
    "spammers": (0.5, 0.9),
    # The width of the bands was not chosen on these.
    "beta-1-1-n50-k5-e0.05": (0.1, 0.9),
    "uniform-n100": (0.1, 0.9),
    "all-equal": (0.6, 0.8),
}
RECORDED = "crowd-"
OURS = ("certified", "credible")
QUESTIONS = 2000  # enough for every algorithm to stop by itself
FOLDER, MOST_RUNS, OTHER_SEEDS = "forecasts", 40, 10_000

ABOUT = """# Forecast coverage

Made by `python -m research validate --forecasts`; [results.csv](results.csv) has the same figures.

Four true costs of five should lie within the band that a cost estimate has for a believed
range; the target is 70 % to 90 %. The pools were not used to make the forecasts. Recorded crowds
take part with `--crowds`; their believed range contains four of five workers, rounded to tenths.

| pool | believed | algorithm | runs | forecast | true median | held | below | above |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Row:
    """A forecast of answers, and the shares of true runs in, below and above its band."""

    title: str
    believed: str
    algorithm: str
    runs: int
    low: int
    median: int
    high: int
    true_median: float
    held: float
    below: float
    above: float


@dataclass(frozen=True)
class Cell:
    """One algorithm on one pool: a forecast of ``runs`` runs, and as many true runs."""

    case: Case
    algorithm: str
    low: float
    high: float
    runs: int

    @property
    def title(self) -> str:
        return f"forecast of {self.algorithm} on {self.case.name}"

    @property
    def key(self) -> str:
        return f"{self.title}, {self.low:g}-{self.high:g}, {self.runs} runs"

    def play(self) -> list[Row]:
        case, belief = self.case, RangeBelief(self.low, self.high)
        plan = Plan(case.n, case.k, case.epsilon, case.delta, QUESTIONS)
        one = Contender(self.algorithm, plan)
        foreseen = [
            simulate_run(one, draw_pool(one, belief, i), i).answers for i in range(self.runs)
        ]
        low, median, high = prediction_band(foreseen, plan.most_answers)
        true = np.array([self._real_cost(one, i) for i in range(self.runs)])
        below, above = float((true < low).mean()), float((true > high).mean())
        believed, middle = f"{self.low:g}-{self.high:g}", float(np.median(true))
        facts = (low, median, high, middle, 1 - below - above, below, above)
        return [Row(case.title, believed, self.algorithm, self.runs, *facts)]

    def _real_cost(self, one: Contender, number: int) -> int:
        order = np.random.default_rng(number).permutation(self.case.n)
        return simulate_run(one, self.case.means(number)[order], OTHER_SEEDS + number).answers


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of our algorithms on the pools with a believed range."""
    runs, ours = min(wanted.effort.runs, MOST_RUNS), [a for a in wanted.algorithms if a in OURS]
    cells = [
        Cell(case, name, *believed_range(case), runs)
        for case in wanted.cases
        if case.name in BELIEVED or case.name.startswith(RECORDED)
        for name in ours
    ]
    folder = wanted.out / FOLDER
    return Study(cells, Row, folder / UNFINISHED, partial(_write_table, folder))


def believed_range(case: Case) -> tuple[float, float]:
    """Return the believed range; for a recorded crowd that of the middle four fifths, in tenths."""
    if case.name in BELIEVED:
        return BELIEVED[case.name]
    low, high = np.quantile(case.fixed, [0.1, 0.9])
    low = float(np.clip(np.floor(10 * low) / 10, 0.05, 0.8))
    return low, float(np.clip(np.ceil(10 * high) / 10, low + 0.1, 0.95))


def _write_table(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Write the table of these rows; return lines for a terminal."""
    table = tables.keep_rows(folder / TABLE, rows, Row)
    report.write_report(folder, ABOUT + "".join(map(_format_line, table)))
    if not table:
        return ["Nothing is believed of these pools."]
    share = np.mean([row.held for row in table])
    return [f"The band held {share:.0%} of the true prices.", f"Written to {folder}."]


def _format_line(row: Row) -> str:
    forecast = f"{row.low:,} – {row.median:,} – {row.high:,}"
    shares = (f"{share:.0%}" for share in (row.held, row.below, row.above))
    head = (row.title, row.believed, f"`{row.algorithm}`", row.runs, forecast)
    return tables.markdown_line([*head, f"{row.true_median:,.0f}", *shares])
