"""The Celery task that plays a cell: ``crowdselect.celery`` names this module to every worker."""

from dataclasses import asdict
from typing import Any

from celery import shared_task

from .papers.cells import Cell as PapersCell
from .papers.rows import Row as PapersRow
from .validation import compared, event_table, practice
from .validation.cells import Cell as PromisesCell
from .validation.rows import Row as PromisesRow

QUEUE = "research"  # of its own: a run's next step never waits behind a long cell
ROOMS = {"compared": compared, "lives": event_table, "practice": practice}
CELLS: dict[str, Any] = {"papers": PapersCell, "promises": PromisesCell}
CELLS |= {name: room.Cell for name, room in ROOMS.items()}
ROWS: dict[str, Any] = {"papers": PapersRow, "promises": PromisesRow}
ROWS |= {name: room.Row for name, room in ROOMS.items()}
Stored = dict[str, Any]


@shared_task(name="research.play", ignore_result=False)
def play_cell(room: str, cell: Stored) -> list[Stored]:
    """Return the rows of a cell of this room; a cell that is played twice gives the same ones."""
    return [asdict(row) for row in CELLS[room].read(cell).play()]
