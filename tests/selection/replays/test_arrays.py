"""Replay in arrays: the same as the whole way through the database."""

from typing import Any

import pytest

from selection import reports
from selection.models import Run
from selection.replays import arrays, crowd
from selection.replays.crowd import RecordedCrowd
from selection.replays.settings import ReplaySettings, compute_regrets
from selection.simulation import replay
from tests.pasts import write_past

ACCURACIES = [0.95, 0.9, 0.9, 0.6, 0.5, 0.55, 0.4, 0.3]
THIS_SET = {"accuracy": "on this question set"}


@pytest.fixture
def past(tmp_path) -> RecordedCrowd:
    """Return a crowd that answered all of 60 tasks, except that the last worker answered some."""
    answers, gold = write_past(tmp_path, ACCURACIES, 60)
    answers.write_text("\n".join(answers.read_text().splitlines()[:-25]))
    return crowd.read_crowd(answers, gold)


def wanted(algorithm: str, **changes: Any) -> ReplaySettings:
    usual = {
        "name": "past",
        "k": 3,
        "epsilon": 0.2,
        "delta": 0.1,
        "budget": None,
        "seed": 4,
        "slots": 20,
        "redraw": False,
    }
    return ReplaySettings(algorithm=algorithm, **usual | changes)


def play_both(past: RecordedCrowd, settings: ReplaySettings) -> tuple[arrays.PlayedRun, Run]:
    played = arrays.play_record(arrays.RecordedAnswers(past), settings)
    return played, replay.play_replay(past, settings, lambda counted: None)


def assert_same(played: arrays.PlayedRun, run: Run, past: RecordedCrowd) -> None:
    document = reports.export_run(run)
    chosen = [row["worker"] for row in document["workers"]]
    assert (played.answers, played.ending) == (document["answers_used"], run.ending)
    assert played.regrets == pytest.approx(compute_regrets(past.accuracy, chosen))
    assert played.epsilon == document["epsilon_reached"]


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    "settings",
    [
        wanted("certified"),
        wanted("certified", options=THIS_SET),
        wanted("certified", slots=None, seed=9),
        wanted("credible"),
        wanted("adaptive-top-k"),
        wanted("lucb", epsilon=0.7),
        wanted("lucb-plus-plus"),
        wanted("lil-rand-lucb"),
        wanted("halving"),
        wanted("sar", budget=200),
        wanted("ugape-c", budget=150),
        wanted("adaptive-top-k", epsilon=0.4, redraw=True, slots=None),
        wanted("credible", epsilon=0.05, redraw=True),
        wanted("kl-lucb", redraw=True, budget=3000),
    ],
    ids=lambda asked: f"{asked.algorithm}-{asked.redraw}-{asked.budget}",
)
def test_arrays_match_the_engine(past, settings):
    played, run = play_both(past, settings)
    assert played.answers > 0
    assert_same(played, run, past)
