"""Workers leaving seen questions unanswered hold up a run only briefly."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from selection import engine, wakeups
from selection.answers import overdue, presence, recording
from selection.models import Answer, Assignment, Run, Step
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db

SILENT = {"w0", "w1"}


def show_all(run: Run) -> list[Assignment]:
    """Show all workers their questions; return those that the silent ones do not hold."""
    presence.record_shown(run, [one.pk for one in open_of(run)])
    return [one for one in open_of(run) if one.candidate.worker.key not in SILENT]


def held_up(run: Run) -> None:
    """Let all workers except the silent ones answer until no question is dealt."""
    respond = crowd(5, good=3)
    for _ in range(200):
        engine.advance(run.pk)
        run.refresh_from_db()
        if run.status != Run.Status.RUNNING:
            pytest.fail("The run ended, so nobody held it up.")
        if not (shown := show_all(run)):
            return
        for one in shown:
            recording.record_answer(one.pk, respond(one))


def let_pass(run: Run, **time: float) -> None:
    """Move all times of this run into the past, except the deadlines."""
    ago = timedelta(**time)
    Step.objects.filter(run=run).update(at=F("at") - ago)
    Answer.objects.filter(run=run).update(at=F("at") - ago)
    Assignment.objects.filter(candidate__run=run).update(shown=F("shown") - ago)


def small_run(**fields: object) -> Run:
    values: dict[str, object] = {"algorithm": "credible", "n": 6, "questions": 60, "minutes": 120}
    values |= {"epsilon": 0.02, "slots": 12, "slots_per_worker": 2, "seed": 3}
    return make_run(**values | fields)


def test_silence_of_five_usual_times_asks_other_workers():
    run = small_run()
    held_up(run)
    assert engine.advance(run.pk) is None
    let_pass(run, seconds=11)
    step = engine.advance(run.pk)
    assert step is not None
    assert step.dealt > 0
    new = {one.candidate.worker.key for one in open_of(run) if one.shown is None}
    assert new
    assert not new & SILENT


def test_the_run_is_looked_at_again_when_the_silent_were_waited_for_long_enough(
    monkeypatch, django_capture_on_commit_callbacks
):
    run, sent = small_run(), []
    held_up(run)
    monkeypatch.setattr(wakeups, "send_step", lambda run_id, delay: sent.append((run_id, delay)))
    for _ in range(2):  # a message is on its way already
        with django_capture_on_commit_callbacks(execute=True):
            assert engine.advance(run.pk) is None
    ((number, delay),) = sent
    assert number == run.pk
    assert 5 < delay <= 10 + settings.ADVANCE_DELAY_SECONDS
    let_pass(run, seconds=delay)
    assert engine.advance(run.pk) is not None


def test_sweep_in_time_replaces_a_message(
    settings, monkeypatch, django_capture_on_commit_callbacks
):
    settings.SWEEP_SECONDS = 5
    run, sent = small_run(), []
    held_up(run)
    monkeypatch.setattr(wakeups, "send_step", lambda *told: sent.append(told))
    with django_capture_on_commit_callbacks(execute=True):
        assert engine.advance(run.pk) is None
    assert not sent


def test_worker_skipped_for_silence_delays_no_second_step():
    run, dealt = small_run(), []
    held_up(run)
    silent = Assignment.objects.open().filter(candidate__worker__key__in=SILENT)
    silent.filter(position__gt=0).update(shown=None, due=None)  # a page shows one at a time
    assert silent.filter(shown=None).exists()
    let_pass(run, seconds=61)
    for _ in range(4):
        step = engine.advance(run.pk)
        run.refresh_from_db()
        if run.status != Run.Status.RUNNING:
            break
        dealt.append(step.dealt if step else 0)
        others = [one for one in open_of(run) if one.candidate.worker.key not in SILENT]
        presence.record_shown(run, [one.pk for one in others])
        for one in others:
            recording.record_answer(one.pk, "yes")
    assert len(dealt) > 1
    assert all(dealt)


def test_clock_set_back_does_not_lengthen_the_wait():
    run = small_run()
    held_up(run)
    let_pass(run, hours=-1)
    step = engine.advance(run.pk)
    assert step is not None
    assert step.dealt > 0


def test_a_slow_crowd_is_given_longer():
    run = small_run()
    held_up(run)
    answered = Assignment.objects.filter(candidate__run=run, answer__isnull=False)
    answered.update(shown=F("shown") - timedelta(minutes=4))
    let_pass(run, minutes=19)
    assert engine.advance(run.pk) is None
    let_pass(run, minutes=2)
    assert engine.advance(run.pk) is not None


def test_the_silent_answer_late_and_it_counts():
    run = small_run()
    held_up(run)
    let_pass(run, minutes=5)
    engine.advance(run.pk)
    late = [one for one in open_of(run) if one.candidate.worker.key in SILENT]
    assert late
    for one in late:
        recording.record_answer(one.pk, "yes")
    engine.advance(run.pk)
    counted = Answer.objects.filter(assignment__in=late).exclude(applied_in=None)
    assert counted.count() == len(late)


def test_no_more_than_the_slots_are_out():
    run = small_run(slots=5)
    held_up(run)
    for _ in range(4):
        let_pass(run, minutes=5)
        engine.advance(run.pk)
    assert Assignment.objects.open().filter(candidate__run=run).count() <= 5


def test_wait_ends_with_the_time_to_answer():
    run = small_run(minutes=1)
    held_up(run)
    let_pass(run, seconds=61)
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.open().filter(candidate__run=run).exclude(due=None).update(due=past)
    assert sorted(overdue.expire_overdue()) == [run.pk]
    step = engine.advance(run.pk)
    assert step is not None
    assert step.applied > 0
