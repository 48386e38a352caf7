"""Play cells in this process, or in several on this machine."""

import signal
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context

from .cells import Cell, Finished, Player
from .tables import R


def make_player(processes: int) -> Player:
    """With so many processes."""
    return play_in_process if processes == 1 else partial(_play_in_processes, processes)


def play_in_process(cells: Sequence[Cell[R]]) -> Finished[R]:
    """One after the other."""
    for cell in cells:
        yield _play_cell(cell)


def _play_in_processes(processes: int, cells: Sequence[Cell[R]]) -> Finished[R]:
    if not cells:
        return
    context = get_context("forkserver")  # no thread, lock or connection of this process goes along
    context.set_forkserver_preload([__name__])
    with context.Pool(min(processes, len(cells)), _leave_signals) as pool:
        yield from pool.imap_unordered(_play_cell, cells)


def _play_cell(cell: Cell[R]) -> tuple[Cell[R], Sequence[R]]:
    return cell, cell.play()


def _leave_signals() -> None:
    """Ctrl-C reaches all processes of a terminal: the parent, which hears it too, ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
