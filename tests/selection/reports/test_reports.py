"""Reports to the requester."""

import math

import pytest

from selection import engine, reports
from selection.errors import NotFound
from selection.runs import lifecycle
from tests.worlds import crowd, kept_run, make_run, play

pytestmark = pytest.mark.django_db


def test_a_fresh_run_reports_nothing_known():
    run = make_run()
    progress = reports.read_progress(run)
    assert (progress.not_tested, progress.counted, progress.spent, progress.gap) == (6, 0, 0, 1.0)
    lines = reports.worker_standings(run)
    assert {(line.mean, line.lower, line.upper) for line in lines} == {(None, 0.0, 1.0)}


def test_a_kept_guarantee_is_exported_as_certified_with_ranked_workers():
    run = kept_run()
    document = reports.export_run(run)
    assert document["certified"]
    assert document["guarantee"] == (
        "With probability at least 90%, each selected worker is at most 30 points less accurate "
        "than the 2nd best."
    )
    assert [row["rank"] for row in document["workers"]] == [1, 2]
    assert {row["worker"] for row in document["workers"]} == {"w0", "w1"}
    assert {row["verdict"] for row in document["workers"]} == {"accepted"}
    assert document["answers_used"] == reports.read_progress(run).counted


def test_a_run_stopped_before_any_evidence_guarantees_nothing():
    run = make_run()
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert not reports.export_run(run)["certified"]
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.text.startswith(
        "No answer was counted: no worker is tested, no worker is selected"
    )
    assert guaranteed.epsilon is None
    assert reports.export_run(run)["workers"] == []


def test_a_run_stopped_early_guarantees_the_gap_it_reached():
    run = make_run(epsilon=0.01, questions=1500, slots=60, slots_per_worker=30)
    for _ in range(6):
        play(run, crowd(3, good=2), most=1)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    gap = reports.read_progress(run).gap
    assert 0.01 < gap < 1
    points = math.ceil(gap * 1000) / 10
    assert reports.guarantee_of_run(run).text == (
        "The target (at most 1 point) was not reached. With probability at least 90%, each "
        f"selected worker is at most {points:g} points less accurate than the 2nd best. "
        "The selected workers are favoured by all answers."
    )


def test_history_is_thinned_and_ends_with_the_last_step():
    run = play(make_run(slots=2, slots_per_worker=1, epsilon=0.01, questions=40), crowd(5, good=2))
    assert run.steps > 20
    thinned = reports.read_history(run, most=10)
    assert len(thinned) <= 10
    assert thinned[-1].number == run.steps


def test_open_assignments_carry_no_answer_and_can_be_paged():
    run = make_run(algorithm="adaptive-top-k", slots=12)
    engine.advance(run.pk)
    first = reports.open_assignments(run, None, limit=5, after=0)
    rest = reports.open_assignments(run, None, limit=100, after=first[-1]["id"])
    assert len(first) + len(rest) == 12
    assert not {"accepted", "right"} & set(first[0])
    with pytest.raises(NotFound):
        reports.open_assignments(run, "nobody", limit=5, after=0)
