"""The whole measurement: every algorithm on every case."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from research import tables
from research.cells import Study
from selection.errors import Refused
from topk import SELECTORS

from . import report
from .cases import Case
from .cells import Cell
from .measure import Effort
from .rows import Row

TABLE, UNFINISHED = "results.csv", "unfinished.jsonl"
Show = Callable[[Path, Sequence[Row]], None]


@dataclass(frozen=True)
class StudySettings:
    """The cases, the algorithms, the effort, and the folder of the results."""

    cases: Sequence[Case]
    algorithms: Sequence[str]
    effort: Effort
    out: Path


def algorithm_names(only: Iterable[str] = ()) -> list[str]:
    """Return these algorithms, or all for the best K. Raises Refused for an unknown name."""
    for name in only:
        if name not in SELECTORS:
            raise Refused(f"There is no algorithm “{name}”; there are {', '.join(SELECTORS)}.")
    return list(only) or [name for name, kind in SELECTORS.items() if not kind.takes_mark]


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of all algorithms on all cases, with its page."""
    return study_of(wanted, _print_rows)


def _print_rows(folder: Path, rows: Sequence[Row]) -> None:
    report.write_report(folder, report.rows_markdown(rows))


def study_of(wanted: StudySettings, show: Show) -> Study[Row]:
    """Return the study of every algorithm on every case; ``show`` writes more files of its rows."""
    cells = [Cell(case, name, wanted.effort) for case in wanted.cases for name in wanted.algorithms]
    write = partial(_write_results, wanted.out, show)
    return Study(cells, Row, wanted.out / UNFINISHED, write)


def _write_results(folder: Path, show: Show, new: Sequence[Row]) -> list[str]:
    """Write the table; rows of other algorithms and cases stay in it. Return a summary."""
    path = folder / TABLE
    rows = tables.keep_rows(path, merge_rows(new, tables.read_table(path, Row)), Row)
    show(folder, rows)
    broken = [row for row in rows if row.broken]
    lines = [f"Broken: {row.algorithm} on {row.case}, {row.rate:.1%} missed." for row in broken]
    return [*lines, f"Written to {folder}."]


def merge_rows(new: Sequence[Row], old: Sequence[Row]) -> list[Row]:
    """Return the new rows and the old ones that they do not replace, grouped by case."""
    replaced = {(row.case, row.algorithm) for row in new}
    rest = [row for row in old if (row.case, row.algorithm) not in replaced]
    places = {case: i for i, case in enumerate(dict.fromkeys(row.case for row in [*old, *new]))}
    return sorted([*rest, *new], key=lambda row: places[row.case])
