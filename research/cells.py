"""A cell: one algorithm on one instance, simulated many times. A study resumes whole cells."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from .journal import Journal
from .tables import R, R_co

Floats = NDArray[np.float64]
Report = Callable[[int, str], object]  # takes the number of cells done since, and a title


class Cell(Protocol[R_co]):
    @property
    def key(self) -> str:
        """The name of the finished cell in the journal; it depends on all settings."""

    @property
    def title(self) -> str:
        """The name shown to people."""

    def play(self) -> Sequence[R_co]:
        """Simulate all runs; return rows of the table."""


Finished = Generator[tuple[Cell[R], Sequence[R]], None, None]


class Player(Protocol):
    """A function that plays cells and yields each with its rows, in any order."""

    def __call__(self, cells: Sequence[Cell[R]], /) -> Finished[R]: ...


@dataclass(frozen=True)
class Study(Generic[R]):
    """Cells to play, and how to write their rows.

    row      the class of a row
    journal  the file that keeps finished cells until the table has them
    write    writes the files of all rows, in the order of the cells; returns lines for a terminal
    known    finished rows by the key of their cell
    """

    cells: Sequence[Cell[R]]
    row: type[R]
    journal: Path
    write: Callable[[Sequence[R]], list[str]]
    known: Mapping[str, Sequence[R]] = field(default_factory=dict)


def carry_out(study: Study[R], player: Player, report: Report) -> list[str]:
    """Play the missing cells, store each when it is finished, write the files; return a summary."""
    study.journal.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(study.journal, study.row)
    results = {**study.known, **journal.kept}
    missing = [cell for cell in study.cells if cell.key not in results]
    report(len(study.cells) - len(missing), "")
    with closing(player(missing)) as finished:  # an interrupt ends the processes at once
        for cell, rows in finished:
            results[cell.key] = rows
            journal.add(cell.key, rows)
            report(1, cell.title)
    summary = study.write([row for cell in study.cells for row in results[cell.key]])
    journal.forget({cell.key for cell in study.cells})
    return summary
