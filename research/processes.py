"""Play cells in this process, or in several on this machine."""

import signal
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context

from .cells import Cell, Finished, Player
from .tables import R


def player(processes: int) -> Player:
    """With so many processes."""
    return here if processes == 1 else partial(_by_processes, processes)


def here(cells: Sequence[Cell[R]]) -> Finished[R]:
    """One after the other."""
    for cell in cells:
        yield _played(cell)


def _by_processes(processes: int, cells: Sequence[Cell[R]]) -> Finished[R]:
    if not cells:
        return
    context = get_context("forkserver")  # no thread, lock or connection of this process goes along
    context.set_forkserver_preload([__name__])
    with context.Pool(min(processes, len(cells)), _leave_signals) as pool:
        yield from pool.imap_unordered(_played, cells)


def _played(cell: Cell[R]) -> tuple[Cell[R], Sequence[R]]:
    return cell, cell.play()


def _leave_signals() -> None:
    """Ctrl-C reaches all processes of a terminal: the parent, which hears it too, ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
