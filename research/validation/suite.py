"""The whole measurement: every case, every algorithm, table and plots."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from research import tables
from research.cells import Study
from selection.errors import Refused
from topk import SELECTORS

from . import plots, report
from .cases import Case
from .cells import Cell
from .measure import Effort
from .rows import Row

TABLE, UNFINISHED = "results.csv", "unfinished.jsonl"
Show = Callable[[Path, Sequence[Row]], None]


@dataclass(frozen=True)
class StudySettings:
    """What to measure, how hard, and into which folder."""

    cases: Sequence[Case]
    algorithms: Sequence[str]
    effort: Effort
    out: Path


def algorithm_names(only: Iterable[str] = ()) -> list[str]:
    """Return these algorithms, or all. Raises Refused for a name that is none."""
    for name in only:
        if name not in SELECTORS:
            raise Refused(f"There is no algorithm “{name}”; there are {', '.join(SELECTORS)}.")
    return list(only) or list(SELECTORS)


def build_study(wanted: StudySettings) -> Study[Row]:
    """Just what was asked for."""
    return study_of(wanted, _print_rows)


def _print_rows(folder: Path, rows: Sequence[Row]) -> None:
    report.write_report(folder, report.rows_markdown(rows))
    plots.draw_plots(folder, rows)


def study_of(wanted: StudySettings, show: Show) -> Study[Row]:
    """Return the study of every algorithm on every case; ``show`` makes a page of its table."""
    cells = [Cell(case, name, wanted.effort) for case in wanted.cases for name in wanted.algorithms]
    write = partial(_write_results, wanted.out, show)
    return Study(cells, Row, wanted.out / UNFINISHED, write)


def _write_results(folder: Path, show: Show, new: Sequence[Row]) -> list[str]:
    """Rows that the folder's table has of other algorithms or cases stay."""
    path = folder / TABLE
    rows = tables.keep_rows(path, merge_rows(new, tables.read_table(path, Row)), Row)
    show(folder, rows)
    broken = [row for row in rows if row.broken]
    said = [f"Broken: {row.algorithm} on {row.case}, {row.rate:.1%} missed." for row in broken]
    return [*said, f"Written to {folder}."]


def merge_rows(new: Sequence[Row], old: Sequence[Row]) -> list[Row]:
    """Return the new rows and the old ones that they do not replace, by case."""
    replaced = {(row.case, row.algorithm) for row in new}
    kept = [row for row in old if (row.case, row.algorithm) not in replaced]
    places = {case: i for i, case in enumerate(dict.fromkeys(row.case for row in [*old, *new]))}
    return sorted([*kept, *new], key=lambda row: places[row.case])
