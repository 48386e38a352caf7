"""Hand cells to Celery workers, on as many machines as there are, and gather their rows."""

from collections.abc import Sequence
from dataclasses import asdict

from celery.result import AsyncResult, ResultSet

from crowdselect import celery_app
from selection.errors import Refused

from .cells import Cell, Finished
from .tables import R
from .tasks import CELLS, QUEUE, ROWS, play_cell

HOW = f"celery -A crowdselect worker -Q {QUEUE}"


def play_on_celery(cells: Sequence[Cell[R]]) -> Finished[R]:
    """As they come in. Raises Refused if no worker takes such cells, or cannot."""
    if not cells:
        return
    _check_rooms(cells)
    _check_workers()
    sent = {result.id: (result, cell) for cell in cells for result in [_send_cell(cell)]}
    try:
        for task, _ in ResultSet([result for result, _ in sent.values()]).iter_native():
            result, cell = sent.pop(task)
            yield cell, [ROWS[_room_of(cell)](**row) for row in result.get()]
            result.forget()
    finally:
        celery_app.control.revoke(list(sent))  # whatever is still waiting after an interrupt


def _send_cell(cell: Cell[R]) -> AsyncResult:
    return play_cell.apply_async((_room_of(cell), asdict(cell)), queue=QUEUE)


def _room_of(cell: Cell[R]) -> str:
    return next(room for room, kind in CELLS.items() if isinstance(cell, kind))


def _check_rooms(cells: Sequence[Cell[R]]) -> None:
    if not all(isinstance(cell, tuple(CELLS.values())) for cell in cells):
        raise Refused("Celery workers do not play this: leave out --celery.")


def _check_workers() -> None:
    """Otherwise the cells would lie there, and nobody would know why."""
    queues = celery_app.control.inspect().active_queues() or {}
    if not any(queue["name"] == QUEUE for each in queues.values() for queue in each):
        raise Refused(f"No Celery worker plays cells; start one, or several: {HOW}")
