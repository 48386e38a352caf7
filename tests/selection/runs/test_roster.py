"""Joining, leaving, withdrawing and taking back, with the effects on a run."""

import pytest

from selection import engine, reports
from selection.errors import Conflict, Refused
from selection.models import Run, Worker
from selection.runs import lifecycle
from selection.runs.roster import membership, roster_opening
from tests.worlds import answer_all, crowd, make_run, play

pytestmark = pytest.mark.django_db


def test_run_selects_among_workers_who_are_not_withdrawn():
    run = make_run(n=6, k=2, algorithm="lucb", epsilon=0.3, slots=30)
    respond = crowd(2, good=3, high=0.99, low=0.1)
    engine.advance(run.pk)
    answer_all(run, respond)
    membership.withdraw_workers(run, ["w0"], "ada", "moved away")
    play(run, respond)
    lines = {line.worker: line for line in reports.worker_standings(run)}
    assert {key for key in lines if lines[key].selected} == {"w1", "w2"}
    assert lines["w0"].verdict == "not tested"
    assert lines["w0"].presence == "withdrawn"
    said = reports.export_run(run)["guarantee"]
    assert "Of the 6 workers 1 was withdrawn: they are not tested to the end" in said
    event = run.events.get(kind="withdraw")
    assert (event.who, event.why, event.what) == ("ada", "moved away", "Withdrawn: w0.")


def test_delta_is_shared_with_workers_who_left_after_answering():
    run = make_run(n=6, k=2, delta=0.12)
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w5"])
    arrays = engine.arrays.load_arrays(Run.objects.locked(run.pk))
    assert arrays.selector.problem.n == 5
    assert arrays.selector.problem.delta == pytest.approx(0.12 * 5 / 6)


def test_a_worker_taken_back_brings_their_answers():
    run = make_run(n=6, k=2)
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    before = run.candidates.get(worker__key="w5").pulls
    membership.withdraw_workers(run, ["w5"])
    membership.take_back(run, ["w5"])
    arrays = engine.arrays.load_arrays(Run.objects.locked(run.pk))
    assert arrays.selector.problem.n == 6
    assert arrays.selector.state.pulls[run.candidates.get(worker__key="w5").arm] == before > 0


@pytest.mark.parametrize("algorithm", ["adaptive-top-k", "halving"])
def test_worker_who_left_a_run_of_rounds_cannot_come_back(algorithm):
    run = make_run(algorithm=algorithm)
    membership.withdraw_workers(run, ["w5"])
    with pytest.raises(Conflict, match="plans with all workers from the start"):
        membership.take_back(run, ["w5"])


def test_run_of_rounds_continues_without_workers_who_left():
    run = make_run(
        n=6, k=2, algorithm="adaptive-top-k", epsilon=0.5, slots=500, slots_per_worker=99
    )
    respond = crowd(4, good=2, high=0.99, low=0.05)
    engine.advance(run.pk)
    answer_all(run, respond)
    membership.withdraw_workers(run, ["w3", "w4"])
    play(run, respond)
    run.refresh_from_db()
    assert run.ending == Run.Ending.GUARANTEE
    lines = {line.worker: line for line in reports.worker_standings(run)}
    assert {key for key in lines if lines[key].selected} == {"w0", "w1"}
    assert {lines["w3"].verdict, lines["w4"].verdict} == {"not tested"}


@pytest.mark.slow
def test_workers_join_an_open_roster_and_verdicts_wait_for_its_closing():
    run = make_run(n=4, k=2, enrolling=True, slots=40, epsilon=0.45, questions=600)
    respond = crowd(2, good=2, high=0.99, low=0.05)
    play(run, respond, most=60)
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    assert not run.candidates.exclude(verdict=0).exists()
    late = Worker.objects.create(pool=run.pool, key="w0b")
    roster_opening.join_roster(run, late)
    assert roster_opening.join_roster(run, late).worker == late, "joining twice is joining once"
    roster_opening.close_roster(run, "ada")
    play(
        run,
        lambda assignment: "yes" if assignment.candidate.worker == late else respond(assignment),
    )
    run.refresh_from_db()
    assert run.ending == Run.Ending.GUARANTEE
    lines = {line.worker: line for line in reports.worker_standings(run)}
    assert len(lines) == 5
    assert lines["w0b"].answers > 0
    assert "who took part" not in reports.export_run(run)["guarantee"]


def test_closed_roster_admits_no_worker():
    run = make_run()
    with pytest.raises(Conflict, match="closed"):
        roster_opening.join_roster(run, Worker.objects.create(pool=run.pool, key="late"))


def test_a_roster_closes_with_the_last_worker_that_was_wanted():
    run = make_run(n=4, enrolling=True, enrol_most=5)
    roster_opening.join_roster(run, Worker.objects.create(pool=run.pool, key="fifth"))
    run.refresh_from_db()
    assert not run.enrolling
    assert run.events.get(kind="close roster").what == "The roster closed with 5 workers."


def test_an_unknown_worker_cannot_be_withdrawn():
    run = make_run()
    with pytest.raises(Refused, match="no worker “nobody”"):
        membership.withdraw_workers(run, ["w0", "nobody"])
    assert not run.candidates.exclude(gone="").exists()


def test_ended_run_cannot_lose_a_worker():
    run = make_run()
    lifecycle.stop_run(run)
    with pytest.raises(Conflict, match="is ended"):
        membership.withdraw_workers(run, ["w0"])
