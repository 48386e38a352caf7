"""Cells are played by one process or several, and an interrupt leaves nothing behind."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from research.cells import carry_out
from research.papers import studies
from research.papers.cells import Cell
from research.processes import make_player, play_in_process
from tests.processes import wait_until

CELLS = [
    Cell("x", "SAR", "sar", (0.7, 0.5, 0.3), k, 3, budgets=(q,)) for k in (1, 2) for q in (12, 30)
]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def study(folder, cells=CELLS):
    made = studies.build_study("sar", folder, quick=True, runs=1)
    return replace(made, cells=cells, known={}, write=lambda rows: list(map(str, rows)))


def quiet(more, title):
    pass


def test_several_processes_return_the_result_of_one(tmp_path):
    one, two = (carry_out(study(tmp_path), make_player(many), quiet) for many in (1, 2))
    assert one == two
    assert len(one) == len(CELLS)


def test_finished_cells_are_not_played_again_after_an_interrupt(tmp_path):
    played = []

    def until_interrupted(cells):
        yield from play_in_process(cells[:2])
        raise KeyboardInterrupt

    def noted(cells):
        played.extend(cells)
        yield from play_in_process(cells)

    with pytest.raises(KeyboardInterrupt):
        carry_out(study(tmp_path), until_interrupted, quiet)
    assert files(tmp_path)
    told = []
    said = carry_out(study(tmp_path), noted, lambda more, title: told.append((more, title)))
    assert played == CELLS[2:]
    assert told == [(2, ""), (1, "SAR on x"), (1, "SAR on x")]
    assert said == carry_out(study(tmp_path), play_in_process, quiet)
    assert files(tmp_path) == {}


@pytest.mark.slow
def test_an_interrupted_command_ends_its_processes_and_goes_on_from_there(tmp_path):
    """As in a terminal: the interrupt reaches every process of the group."""
    words = ["reproduce", "adaptive-top-k", "--quick", "--processes", "2", "--out", str(tmp_path)]
    started = subprocess.Popen(
        [sys.executable, "-m", "research", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    journal = tmp_path / "adaptive-top-k-quick.unfinished.jsonl"
    wait_until(lambda: journal.exists() and journal.stat().st_size > 0, "a finished cell", 120)
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60)  # until no process of it is left to write
    assert started.returncode == 130
    assert said.decode().endswith(
        "what was finished is kept, and the same command goes on from there.\n"
    )
    assert len(files(tmp_path)) == 1
