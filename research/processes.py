"""Play cells in this process, or in several on this machine."""

import signal
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context

from .cells import Cell, Finished, Player
from .tables import R


def make_player(processes: int) -> Player:
    """Return a player that uses this number of processes."""
    return play_in_process if processes == 1 else partial(_play_in_processes, processes)


def play_in_process(cells: Sequence[Cell[R]]) -> Finished[R]:
    for cell in cells:
        yield _play_cell(cell)


def _play_in_processes(processes: int, cells: Sequence[Cell[R]]) -> Finished[R]:
    if not cells:
        return
    context = get_context("forkserver")  # processes inherit no thread, lock or connection
    context.set_forkserver_preload([__name__])
    with context.Pool(min(processes, len(cells)), _leave_signals) as pool:
        yield from pool.imap_unordered(_play_cell, cells)


def _play_cell(cell: Cell[R]) -> tuple[Cell[R], Sequence[R]]:
    return cell, cell.play()


def _leave_signals() -> None:
    """Ignore Ctrl-C, which every process of a terminal receives: the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
