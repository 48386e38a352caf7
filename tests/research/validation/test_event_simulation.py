"""The study that real life happens to, on the core alone."""

import numpy as np
import pytest

from research.validation import event_simulation, event_table
from research.validation.measure import QUICK
from research.validation.relabelled import EARLY, WRONG_GOLD
from research.validation.suite import StudySettings
from topk.instances import two_group

CHEAP = ("certified", "kl-lucb", "adaptive-top-k")


def lived(algorithm: str, happens: str, seed: int) -> event_simulation.StudyResult:
    means = two_group(20, 4)
    return event_simulation.play_study(
        algorithm, means, happens, 20_000, seed, k=4, epsilon=0.3, delta=0.1
    )


@pytest.mark.parametrize("happens", event_simulation.LIVES)
@pytest.mark.parametrize("algorithm", CHEAP)
def test_guarantee_survives_the_events_of_a_run(algorithm, happens):
    """Three runs notice an algorithm that is wrong about half the time, no less."""
    found = [lived(algorithm, happens, seed) for seed in range(3)]
    assert all(run.ended for run in found)
    assert sum(run.false for run in found) <= 1
    assert all(run.stayed < 20 for run in found)


def test_the_same_seed_is_the_same_study():
    assert lived("certified", event_simulation.PLAIN, 5) == lived(
        "certified", event_simulation.PLAIN, 5
    )


def test_a_run_that_an_event_brings_to_its_end_has_ended():
    """In this run the relaxed ε holds, when nothing is out and nothing is left to come."""
    case = event_table.study_pools()[0]
    asked = {"k": case.k, "epsilon": case.epsilon, "delta": case.delta}
    played = event_simulation.play_study(
        "universal", case.means(2), event_simulation.PLAIN, 20_000, 2, **asked
    )
    assert played.ended
    assert not played.false


def test_measuring_an_algorithm_again_keeps_the_rows_of_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(event_table, "LEAST", 1)
    (tmp_path / "life").mkdir()
    for name in ("kl-lucb", "certified", "certified"):
        study = event_table.build_study(StudySettings([], [name], QUICK, tmp_path))
        study.write(study.cells[0].play())
    page = (tmp_path / "life" / "README.md").read_text()
    found = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert found == ["certified", "kl-lucb"]


def test_a_corrected_gold_answer_counts_as_if_it_had_always_been_so():
    desk = event_simulation.RelabelledAssignments(
        np.array([1.0, 1.0]), event_simulation.CrowdLatency("sure"), np.random.default_rng(1)
    )
    for part in range(10, EARLY + 1, 10):
        desk.give(np.array([10, 0]))
        while desk.pulls[0] < part:
            desk.count()
    assert desk.right(0, 0, EARLY).sum() == EARLY - WRONG_GOLD
    desk.corrected = True
    assert desk.right(0, 0, EARLY).all()


def test_table_states_the_false_selections_of_each_life(tmp_path, monkeypatch):
    monkeypatch.setattr(event_table, "LEAST", 1)
    wanted = StudySettings([], ["certified", "sar"], QUICK, tmp_path)
    cells = event_table.build_study(wanted).cells
    assert len(cells) == len(event_table.study_pools()) * len(event_simulation.LIVES)
    rows = cells[0].play()
    event_table.build_study(wanted).journal.parent.mkdir()
    event_table.build_study(wanted).write(rows)
    page = (tmp_path / "life" / "README.md").read_text()
    assert "| `certified` | TwoGroup, .7 and .3 | as they come |" in page
