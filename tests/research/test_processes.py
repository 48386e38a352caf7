"""Cells are played by processes and by Celery workers, and an interrupt leaves nothing behind."""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from research import workers
from research.__main__ import main
from research.cells import carry_out
from research.papers import lil_rand_lucb, studies
from research.papers.cells import Cell
from research.processes import make_player, play_in_process
from research.tasks import ROWS, play_cell
from research.validation import compared, event_simulation, event_table, forecasts, practice
from research.validation.cases import fixed_case
from research.validation.measure import Effort
from selection.errors import Refused
from tests.processes import celery_worker, wait_until

CELLS = [
    Cell("x", "SAR", "sar", (0.7, 0.5, 0.3), k, 3, budgets=(q,)) for k in (1, 2) for q in (12, 30)
]
WORDS = ["reproduce", "lil-rand-lucb", "--quick", "--runs", "1", "--quiet"]


@pytest.fixture
def few(monkeypatch):
    """A study of few and small cells."""
    monkeypatch.setattr(lil_rand_lucb, "QUICK_RUNS", {6: 1})


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def study(folder, cells=CELLS):
    made = studies.build_study("sar", folder, quick=True, runs=1)
    return replace(made, cells=cells, known={}, write=lambda rows: list(map(str, rows)))


def quiet(more, title):
    pass


def test_several_processes_find_what_one_does(tmp_path):
    one, two = (carry_out(study(tmp_path), make_player(many), quiet) for many in (1, 2))
    assert one == two
    assert len(one) == len(CELLS)


def test_what_was_finished_before_an_interrupt_is_not_played_again(tmp_path):
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


@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few")
def test_celery_workers_find_what_processes_do(tmp_path):
    alone, handed = tmp_path / "alone", tmp_path / "handed"
    assert main([*WORDS, "--processes", "1", "--out", str(alone)]) == 0
    with celery_worker("--queues", workers.QUEUE):
        assert main([*WORDS, "--celery", "--out", str(handed)]) == 0
        promises = ["validate", "--quick", "--only", "uniform", "--cases", "sure", "--quiet"]
        assert main([*promises, "--celery", "--out", str(handed / "promises")]) == 0
    assert main([*promises, "--processes", "1", "--out", str(alone / "promises")]) == 0
    assert files(handed / "promises") == files(alone / "promises")
    for path in alone.glob("*.*"):
        assert (handed / path.name).read_bytes() == path.read_bytes()


SMALL = fixed_case("small", "Small", np.array([1.0, 1.0, 0.0, 0.0]), 2)
EFFORT = Effort(runs=2, seconds=math.inf, cap=2_000)
PLAYED = [
    practice.Cell(SMALL, "best-10", EFFORT),
    compared.Cell(SMALL, "credible", EFFORT),
    event_table.Cell("credible", SMALL, event_simulation.LIVES[0], EFFORT),
]


@pytest.mark.parametrize("cell", PLAYED, ids=lambda cell: type(cell).__module__)
def test_a_worker_plays_every_kind_of_cell(cell):
    room = workers._room_of(cell)
    sent = json.loads(json.dumps(asdict(cell)))
    assert [ROWS[room](**row) for row in play_cell(room, sent)] == cell.play()


def test_what_no_worker_can_play_is_refused_in_words():
    cell = forecasts.Cell(SMALL, "credible", 0.6, 0.9, 1)
    with pytest.raises(Refused, match="leave out --celery"):
        list(workers.play_on_celery([cell]))


@pytest.mark.usefixtures("few")
def test_without_a_worker_that_plays_cells_it_says_how_to_start_one(tmp_path, capsys):
    assert main([*WORDS, "--celery", "--out", str(tmp_path)]) == 2
    assert "celery -A crowdselect worker -Q research" in capsys.readouterr().err
    assert main([*WORDS, "--out", str(tmp_path)]) == 0
