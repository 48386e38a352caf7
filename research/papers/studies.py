"""The papers that can be reproduced, and their tables and plots."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from research import tables
from research.cells import Study

from . import adaptive_top_k, lil_rand_lucb, plots, report, sar
from .cells import Cell
from .claims import Claim
from .rows import Row


@dataclass(frozen=True)
class Experiments:
    """A paper's experiments, claims and figures.

    cells  takes True for few points, and the plays per point; None for the paper's own number
    """

    title: str
    cells: Callable[[bool, int | None], list[Cell]]
    claims: Callable[[Sequence[Row]], list[Claim]]
    figures: Callable[[Sequence[Row]], list[plots.Figure]]


PAPERS = {
    "sar": Experiments(
        "Bubeck, Wang, Viswanathan 2013", sar.build_cells, sar.check_claims, sar.draw_figures
    ),
    "adaptive-top-k": Experiments(
        "Chen, Chen, Zhang, Zhou 2017",
        adaptive_top_k.build_cells,
        adaptive_top_k.check_claims,
        adaptive_top_k.draw_figures,
    ),
    "lil-rand-lucb": Experiments(
        "Jiang, Li, Qiao 2017",
        lil_rand_lucb.build_cells,
        lil_rand_lucb.check_claims,
        lil_rand_lucb.draw_figures,
    ),
}


def build_study(paper: str, out: Path, quick: bool = False, runs: int | None = None) -> Study[Row]:
    """Return the study of a paper; cells that its table has in full are not played again."""
    stem = out / (f"{paper}-quick" if quick else paper)
    cells = PAPERS[paper].cells(quick, runs)
    rows = finished_rows(cells, tables.read_table(stem.with_suffix(".csv"), Row))
    journal = stem.with_suffix(".unfinished.jsonl")
    return Study(cells, Row, journal, partial(_write_results, PAPERS[paper], stem), rows)


def finished_rows(cells: Sequence[Cell], rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each complete cell by its key."""
    by_cell: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        by_cell[row.seed, row.runs][row.budget] = row
    complete = {}
    for cell in cells:
        have = by_cell[cell.seed, cell.runs]
        if all(budget in have for budget in cell.budgets):
            complete[cell.key] = [have[budget] for budget in cell.budgets]
    return complete


def _write_results(paper: Experiments, stem: Path, new: Sequence[Row]) -> list[str]:
    """Write the table, the plots and the verdicts; return a summary."""
    table = stem.with_suffix(".csv")
    rows = tables.keep_rows(table, new, Row, report.ENDS)
    claims = paper.claims(rows)
    pages = report.write_claims(stem, paper.title, claims)
    pictures = [plots.draw_plot(figure, stem) for figure in paper.figures(rows)]
    return [*report.summarise_claims(claims), "", *map(str, [table, *pages, *pictures])]
