"""Outages of the web: no worker loses a question by one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from selection import db_clock, engine
from selection.answers import outages, overdue, presence, recording
from selection.answers.lookup import read_slip
from selection.models import Answer, Assignment, Event, Heartbeat, Run
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.runs.settings import change_effects
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db

START = timezone.now()


def moment(seconds: float):
    return START + timedelta(seconds=seconds)


@pytest.fixture
def run() -> Run:
    """Return a run of six workers with a shown question, a minute left, and the web up just now."""
    made = make_run(minutes=1)
    engine.advance(made.pk)
    presence.record_shown(made, [one.pk for one in open_of(made)])
    Assignment.objects.exclude(due=None).update(shown=moment(0), due=moment(60))
    Run.objects.update(absence_since=moment(-60))
    outages.record_heartbeat(moment(0))
    return made


def due_seconds() -> set[float]:
    found = Assignment.objects.exclude(due=None).values_list("due", flat=True)
    return {(due - START).total_seconds() for due in found}


def test_assignments_due_in_an_outage_are_not_closed(run):
    assert sorted(overdue.expire_overdue(now=moment(75))) == []
    assert not Answer.objects.exists()


def test_the_outage_is_given_back(run):
    outages.record_heartbeat(moment(75))
    assert due_seconds() == {135}
    (event,) = Event.objects.filter(kind="outage")
    assert event.what.startswith("Answers could not be taken for 75 s")
    for second in range(80, 135, 5):
        outages.record_heartbeat(moment(second))
    assert sorted(overdue.expire_overdue(now=moment(134))) == []
    outages.record_heartbeat(moment(140))
    assert sorted(overdue.expire_overdue(now=moment(140))) == [run.pk]


def test_beats_that_come_in_time_give_nothing_back(run):
    for second in range(1, 120):
        outages.record_heartbeat(moment(second))
    assert due_seconds() == {60}
    assert not Event.objects.filter(kind="outage").exists()
    assert sorted(overdue.expire_overdue(now=moment(119))) == [run.pk]


def test_two_web_processes_give_one_outage_back_once(run):
    outages.record_heartbeat(moment(75))
    outages.record_heartbeat(moment(75.1))
    outages.record_heartbeat(moment(74))
    assert due_seconds() == {135}
    assert Heartbeat.objects.last_seen(Heartbeat.WEB) == moment(75)


def test_assignments_overdue_before_an_outage_are_closed(run):
    Assignment.objects.exclude(due=None).update(due=moment(-1))
    assert sorted(overdue.expire_overdue(now=moment(75))) == [run.pk]


def test_a_paused_run_gets_the_time_once(run):
    lifecycle.pause_run(run)
    Run.objects.update(paused=moment(10))
    outages.record_heartbeat(moment(75))
    assert due_seconds() == {60}


def test_web_outage_makes_no_worker_absent(run):
    Run.objects.update(hours_to_come=1, absence_since=moment(0))
    run.candidates.update(seen=None)
    Assignment.objects.update(due=None, shown=None)
    assert membership.sweep_absent(now=moment(5 * 3600)) == []
    outages.record_heartbeat(moment(5 * 3600))
    assert membership.sweep_absent(now=moment(5 * 3600 + 10)) == []
    run.refresh_from_db()
    assert run.absence_since == moment(5 * 3600)


def test_preview_of_absence_counts_the_workers_of_the_next_sweep(run):
    Run.objects.update(absence_since=moment(-6 * 3600))
    run.candidates.update(seen=None)
    holding = open_of(run)[0].candidate.worker_id
    Assignment.objects.exclude(candidate__worker=holding).update(due=None, shown=None)
    Assignment.objects.exclude(due=None).update(due=moment(3600))
    assert "up to 5 workers" in change_effects.describe_hours_to_come(run, 2.0)
    Heartbeat.objects.update(at=moment(-5 * 3600))
    assert "up to" not in change_effects.describe_hours_to_come(run, 2.0)


def test_host_with_a_fast_clock_refuses_no_answer(run, monkeypatch):
    one = open_of(run)[0]
    assert one.due is not None
    monkeypatch.setattr(timezone, "now", lambda: moment(3600))
    assert not recording.record_answer(one.pk, "yes").duplicate


@pytest.mark.skipif(connection.vendor == "sqlite", reason="its file and all parts have one clock")
def test_host_with_a_wrong_clock_neither_adds_nor_removes_time(run, monkeypatch):
    real, minute = timezone.now, timedelta(minutes=1)
    Assignment.objects.exclude(due=None).update(
        shown=db_clock.database_now(), due=db_clock.database_now() + minute
    )
    Heartbeat.objects.update(at=db_clock.database_now())
    for hours in (-1, 1):
        monkeypatch.setattr(timezone, "now", lambda off=60 * hours * minute: real() + off)
        outages.record_heartbeat()
        assert sorted(overdue.expire_overdue()) == []
        Assignment.objects.update(shown=None, due=None)
        before = db_clock.database_now()
        presence.record_shown(
            run, [one.pk for one in Assignment.objects.filter(candidate__run=run)]
        )
        shown = Assignment.objects.exclude(due=None).values_list("due", flat=True)
        assert shown
        assert all(before <= due - minute <= db_clock.database_now() for due in shown)
    assert not Event.objects.filter(kind="outage").exists()


def test_question_shown_before_the_next_heartbeat_keeps_its_due_time(run):
    one = Assignment.objects.exclude(due=None)[0]
    Assignment.objects.filter(pk=one.pk).update(shown=moment(3603), due=moment(3663))
    outages.record_heartbeat(moment(3605))
    assert due_seconds() == {3663, 3665}


def test_a_clock_that_is_set_back_changes_no_times_and_later_outages_are_still_seen(run):
    outages.record_heartbeat(moment(-3600))
    assert due_seconds() == {60}
    Assignment.objects.exclude(due=None).update(shown=moment(-3600), due=moment(-3540))
    outages.record_heartbeat(moment(-3500))
    assert due_seconds() == {-3440}


def test_an_answer_in_the_moment_in_which_time_is_given_back_is_taken(run, monkeypatch):
    one = read_slip(open_of(run)[0].pk)
    assert one is not None
    monkeypatch.setattr(db_clock, "database_now", lambda: moment(75))
    outages.record_heartbeat()
    assert recording.refusal_of(one._replace(at=moment(75)), "yes") is None


def test_install_without_heartbeats_follows_the_clock(run):
    Heartbeat.objects.all().delete()
    assert sorted(overdue.expire_overdue(now=moment(75))) == [run.pk]
