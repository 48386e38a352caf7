"""Outstanding answers count at their worst if an algorithm's guarantee rests on them."""

import pytest

from selection import engine, reports
from selection.answers import presence, recording
from selection.models import Assignment, Run
from tests.worlds import crowd, make_run, open_of
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

CROWD = crowd(3, 2)


def play_but_for(run: Run, left: str, shown: bool) -> None:
    """Until nothing moves: once it has enough of them, this worker gives no more answers."""
    for _ in range(2000):
        engine.advance(run.pk)
        run.refresh_from_db()
        out = open_of(run)
        given = [one for one in out if one.candidate.worker.key != left or one.position < 12]
        if run.status == Run.Status.ENDED or not given:
            return
        if shown:
            presence.record_shown(run, [one.pk for one in out])
        recording.record_many(run, [(one, CROWD(one)) for one in given])


def certified(**fields) -> Run:
    return make_run(algorithm="certified", slots=18, epsilon=0.15, delta=0.1, **fields)


def test_unseen_questions_go_back_and_the_run_ends_at_once():
    run = certified()
    play_but_for(run, "w0", shown=False)
    assert (run.status, run.ending) == (Run.Status.ENDED, Run.Ending.GUARANTEE)
    assert not open_of(run)
    assert not verify_dump(reports.dump_run(run)).findings


def test_displayed_question_is_awaited_without_asking_others():
    run = certified()
    play_but_for(run, "w0", shown=True)
    out = open_of(run)
    assert run.status == Run.Status.RUNNING
    assert {one.candidate.worker.key for one in out} == {"w0"}
    handed = Assignment.objects.count()
    assert engine.advance(run.pk) is None
    assert Assignment.objects.count() == handed
    assert not verify_dump(reports.dump_run(run)).findings
    recording.record_many(run, [(one, CROWD(one)) for one in out])
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.ending == Run.Ending.GUARANTEE


def test_page_and_steps_agree_about_a_waiting_run():
    run = certified()
    play_but_for(run, "w0", shown=True)
    assert run.history.order_by("number").last().gap > run.epsilon
    assert {line.verdict for line in reports.worker_standings(run)} <= {
        "settled in",
        "settled out",
        "undecided",
    }
