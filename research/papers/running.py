"""Play all cells of a study, on several processes, and go on where an earlier run broke off."""

import signal
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pool
from pathlib import Path

from . import table
from .cells import Cell, play_cell
from .table import Row


def run(
    cells: Sequence[Cell], path: Path, processes: int, told: Callable[[int], object]
) -> list[Row]:
    """The rows of these cells in their order, and the table at ``path``.

    Cells that the table or the partial one beside it has already, with as many plays, are not
    played again. ``told`` hears how many cells are done.
    """
    draft = partial_path(path)
    kept = table.read(draft)
    done = finished(cells, table.read(path) + kept)
    table.write(draft, kept)  # without a line that was torn
    told(len(done))
    missing = [cell for cell in cells if cell.seed not in done]
    with _mapping(processes) as mapped:
        for rows in mapped(play_cell, missing):
            done[rows[0].seed] = rows
            table.append(draft, rows)
            told(1)
    table.write(path, [row for cell in cells for row in done[cell.seed]])
    draft.unlink()
    return table.read(path)  # rounded, whether played now or earlier


def partial_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.partial.csv")


def finished(cells: Sequence[Cell], rows: Sequence[Row]) -> dict[int, list[Row]]:
    """The rows of each cell that is there in full, by the cell's seed."""
    found: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        found[row.seed, row.runs][row.budget] = row
    complete = {}
    for cell in cells:
        have = found[cell.seed, cell.runs]
        if all(budget in have for budget in cell.budgets):
            complete[cell.seed] = [have[budget] for budget in cell.budgets]
    return complete


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterator[list[Row]]]]:
    """``map`` here, or by several processes in whatever order they finish."""
    if processes == 1:
        yield map
        return
    with Pool(processes, _leave_interrupts) as pool:
        yield pool.imap_unordered


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
