"""A cell: one algorithm on one instance, played many times. What is resumed is whole cells."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import Field, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from .journal import Journal
from .tables import R, R_co

Floats = NDArray[np.float64]
Told = Callable[[int, str], object]  # how many more cells are done, and the last one's title


class Cell(Protocol[R_co]):
    """A dataclass of what goes to JSON, so that other processes and machines can play it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def key(self) -> str:
        """Fixed by what is played and how often: under it the finished cell is found."""

    @property
    def title(self) -> str:
        """What a person is told of it."""

    def play(self) -> Sequence[R_co]:
        """All its plays, as rows of the table."""


Finished = Generator[tuple[Cell[R], Sequence[R]], None, None]


class Player(Protocol):
    """Plays cells and gives each with its rows, in whatever order they are finished."""

    def __call__(self, cells: Sequence[Cell[R]], /) -> Finished[R]: ...


@dataclass(frozen=True)
class Study(Generic[R]):
    """Cells to play, and what is made of their rows.

    row      the class of a row
    journal  the file that keeps finished cells until the table has them
    write    makes the files of all rows, in the order of the cells; gives lines for a terminal
    known    rows by their cell's key that need not be played again
    """

    cells: Sequence[Cell[R]]
    row: type[R]
    journal: Path
    write: Callable[[Sequence[R]], list[str]]
    known: Mapping[str, Sequence[R]] = field(default_factory=dict)


def carry_out(study: Study[R], player: Player, told: Told) -> list[str]:
    """Play what is missing, keep each cell as soon as it is finished, and write the files."""
    study.journal.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(study.journal, study.row)
    done = {**study.known, **journal.kept}
    missing = [cell for cell in study.cells if cell.key not in done]
    told(len(study.cells) - len(missing), "")
    with closing(player(missing)) as finished:  # an interrupt ends the other processes at once
        for cell, rows in finished:
            done[cell.key] = rows
            journal.add(cell.key, rows)
            told(1, cell.title)
    said = study.write([row for cell in study.cells for row in done[cell.key]])
    journal.forget({cell.key for cell in study.cells})
    return said
