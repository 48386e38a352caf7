"""The whole measurement: every case, every algorithm, table and plots."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selection.errors import Refused
from topk import SELECTORS

from . import plots, tables
from .cases import Case
from .figures import Row, row_of
from .journal import Journal
from .measure import Cell, Effort, Played, at_leisure, measure

Told = Callable[[str], object]


@dataclass(frozen=True)
class Plan:
    """What to measure, how hard, and into which folder."""

    cases: Sequence[Case]
    algorithms: Sequence[str]
    effort: Effort
    out: Path

    @property
    def size(self) -> int:
        return len(self.cases) * len(self.algorithms)


def algorithms(only: Iterable[str] = ()) -> list[str]:
    """These algorithms, or all. Raises Refused for a name that is none."""
    for name in only:
        if name not in SELECTORS:
            raise Refused(f"There is no algorithm “{name}”; there are {', '.join(SELECTORS)}.")
    return list(only) or list(SELECTORS)


def plan(wanted: Plan) -> Plan:
    """Just what was asked for."""
    return wanted


def run(plan: Plan, told: Told = print) -> list[Row]:
    """Measure, and write table and plots; ``told`` hears of every cell.

    Rows that the folder's table has of other algorithms or cases stay.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    journal = Journal(plan.out, plan.effort)
    new = [row_of(cell, case) for cell, case in cells(plan, journal, told)]
    rows = together(new, tables.read(plan.out))
    tables.write(plan.out, rows)
    plots.draw(plan.out, rows)
    journal.forget({(row.case, row.algorithm) for row in new})
    return rows


def cells(
    plan: Plan, journal: Journal, told: Told, played: Played = at_leisure
) -> Iterable[tuple[Cell, Case]]:
    """Every cell of the plan: from the journal, or measured and kept there."""
    for case in plan.cases:
        for algorithm in plan.algorithms:
            cell = journal.get(case.name, algorithm)
            if cell is None:
                cell = measure(case, algorithm, plan.effort, played)
                journal.add(cell)
            told(f"{algorithm} on {case.name}")
            yield cell, case


def together(new: Sequence[Row], old: Sequence[Row]) -> list[Row]:
    """The new rows, and of the old ones those they do not replace; a case's rows side by side."""
    replaced = {(row.case, row.algorithm) for row in new}
    kept = [row for row in old if (row.case, row.algorithm) not in replaced]
    places = {case: i for i, case in enumerate(dict.fromkeys(row.case for row in [*old, *new]))}
    return sorted([*kept, *new], key=lambda row: places[row.case])
