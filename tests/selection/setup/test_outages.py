"""Time in which the web took no answers: nobody loses a question by it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from selection import clock, engine, intake
from selection.intake import answers, presence
from selection.intake.slips import slip
from selection.models import Answer, Assignment, Event, Pulse, Run
from selection.setup import outages, roster, runs
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db

START = timezone.now()


def at(seconds: float):
    return START + timedelta(seconds=seconds)


@pytest.fixture
def run() -> Run:
    """Six workers who were shown a question and have a minute; the web was there just now."""
    made = make_run(minutes=1)
    engine.advance(made.pk)
    presence.show(made, [one.pk for one in open_of(made)])
    Assignment.objects.exclude(due=None).update(shown=at(0), due=at(60))
    Run.objects.update(called=at(-60))
    outages.web_is_up(at(0))
    return made


def dues() -> set[float]:
    found = Assignment.objects.exclude(due=None).values_list("due", flat=True)
    return {(due - START).total_seconds() for due in found}


def test_what_became_due_in_an_outage_is_not_closed(run):
    assert intake.expire(now=at(75)) == []
    assert not Answer.objects.exists()


def test_the_outage_is_given_back(run):
    outages.web_is_up(at(75))
    assert dues() == {135}
    (event,) = Event.objects.filter(kind="outage")
    assert event.what.startswith("Answers could not be taken for 75 s")
    for second in range(80, 135, 5):
        outages.web_is_up(at(second))
    assert intake.expire(now=at(134)) == []
    outages.web_is_up(at(140))
    assert intake.expire(now=at(140)) == [run.pk]


def test_beats_that_come_in_time_give_nothing_back(run):
    for second in range(1, 120):
        outages.web_is_up(at(second))
    assert dues() == {60}
    assert not Event.objects.filter(kind="outage").exists()
    assert intake.expire(now=at(119)) == [run.pk]


def test_two_web_processes_give_one_outage_back_once(run):
    outages.web_is_up(at(75))
    outages.web_is_up(at(75.1))
    outages.web_is_up(at(74))
    assert dues() == {135}
    assert Pulse.objects.seen(Pulse.WEB) == at(75)


def test_what_was_overdue_before_is_closed_all_the_same(run):
    Assignment.objects.exclude(due=None).update(due=at(-1))
    assert intake.expire(now=at(75)) == [run.pk]


def test_a_paused_run_gets_the_time_once(run):
    runs.pause(run)
    Run.objects.update(paused=at(10))
    outages.web_is_up(at(75))
    assert dues() == {60}


def test_nobody_is_absent_because_the_web_was(run):
    Run.objects.update(hours_to_come=1, called=at(0))
    run.candidates.update(seen=None)
    Assignment.objects.update(due=None, shown=None)
    assert roster.sweep(now=at(5 * 3600)) == []
    outages.web_is_up(at(5 * 3600))
    assert roster.sweep(now=at(5 * 3600 + 10)) == []
    run.refresh_from_db()
    assert run.called == at(5 * 3600)


def test_a_host_whose_clock_is_ahead_refuses_nobody(run, monkeypatch):
    one = open_of(run)[0]
    assert one.due is not None
    monkeypatch.setattr(timezone, "now", lambda: at(3600))
    assert not intake.record(one.pk, "yes").duplicate


@pytest.mark.skipif(connection.vendor == "sqlite", reason="its file and all parts have one clock")
def test_a_host_whose_clock_is_off_neither_gives_time_nor_takes_it(run, monkeypatch):
    real, minute = timezone.now, timedelta(minutes=1)
    Assignment.objects.exclude(due=None).update(shown=clock.now(), due=clock.now() + minute)
    Pulse.objects.update(at=clock.now())
    for hours in (-1, 1):
        monkeypatch.setattr(timezone, "now", lambda off=60 * hours * minute: real() + off)
        outages.web_is_up()
        assert intake.expire() == []
        Assignment.objects.update(shown=None, due=None)
        before = clock.now()
        presence.show(run, [one.pk for one in Assignment.objects.filter(candidate__run=run)])
        shown = Assignment.objects.exclude(due=None).values_list("due", flat=True)
        assert shown
        assert all(before <= due - minute <= clock.now() for due in shown)
    assert not Event.objects.filter(kind="outage").exists()


# -- the clock that all go by is set anew


def show_at(second: float) -> Assignment:
    """One of the questions is shown then, by the clock of then."""
    one = Assignment.objects.exclude(due=None)[0]
    Assignment.objects.filter(pk=one.pk).update(shown=at(second), due=at(second + 60))
    return one


def left_at(second: float) -> set[float]:
    """The seconds to answer that are left then."""
    return {due - second for due in dues()}


def test_a_clock_that_is_an_hour_ahead_for_a_while_costs_nobody_a_second(run):
    assert intake.expire(now=at(3605)) == []
    outages.web_is_up(at(3605))
    assert left_at(3605) == {60}
    assert intake.expire(now=at(3605)) == []
    outages.web_is_up(at(3610))
    outages.web_is_up(at(15))
    assert left_at(15) == {55}
    assert intake.expire(now=at(69)) == []
    for second in range(20, 80, 5):
        outages.web_is_up(at(second))
    assert intake.expire(now=at(75)) == [run.pk]
    words = [event.what for event in Event.objects.filter(kind="outage").order_by("pk")]
    assert "or the clock was set ahead" in words[0]
    assert words[1].startswith("The clock was put back by 3595 s")


def test_a_clock_that_is_an_hour_behind_for_a_while_costs_nobody_a_second(run):
    assert intake.expire(now=at(-3595)) == []
    outages.web_is_up(at(-3595))
    assert left_at(-3595) == {60}
    show_at(-3592)
    outages.web_is_up(at(-3590))
    assert intake.expire(now=at(15)) == []
    outages.web_is_up(at(15))
    assert left_at(15) == {55, 58}
    assert intake.expire(now=at(15)) == []


def test_a_pause_in_which_the_clock_is_put_back_costs_nobody_a_second(run, monkeypatch):
    outages.web_is_up(at(3605))
    monkeypatch.setattr(clock, "now", lambda: at(3610))
    runs.pause(run)
    outages.web_is_up(at(15))
    monkeypatch.setattr(clock, "now", lambda: at(20))
    runs.resume(run)
    assert left_at(20) == {55}


@pytest.mark.parametrize("jump", [3600, -3600])
def test_what_is_shown_between_the_jump_and_the_next_beat_has_its_own_time(run, jump):
    one = show_at(jump + 3)
    outages.web_is_up(at(jump + 5))
    one.refresh_from_db()
    assert one.due == at(jump + 63)
    assert left_at(jump + 5) == {58, 60}


@pytest.mark.parametrize("jump", [3600 * 5, -3600 * 5])
def test_a_clock_that_jumps_makes_nobody_absent_and_nobody_there_for_long(run, jump):
    Run.objects.update(hours_to_come=1, called=at(-60))
    run.candidates.update(seen=at(-30))
    Assignment.objects.update(due=None, shown=None)
    assert roster.sweep(now=at(jump)) == []
    outages.web_is_up(at(jump))
    assert roster.sweep(now=at(jump)) == []
    for second in range(0, 3600, 15):
        outages.web_is_up(at(jump + second))
    assert roster.sweep(now=at(jump + 3560)) == []
    outages.web_is_up(at(jump + 3600))
    assert roster.sweep(now=at(jump + 3600)) == [run.pk]


def test_an_answer_in_the_moment_in_which_time_is_given_back_is_taken(run, monkeypatch):
    one = slip(open_of(run)[0].pk)
    assert one is not None
    monkeypatch.setattr(clock, "now", lambda: at(75))
    outages.web_is_up()
    assert answers.refusal_of(one._replace(at=at(75)), "yes") is None


def test_an_install_whose_web_says_nothing_goes_by_the_clock(run):
    Pulse.objects.all().delete()
    assert intake.expire(now=at(75)) == [run.pk]


def test_who_is_asked_while_the_clock_is_behind_for_a_moment_has_their_whole_time(run):
    """Before the web beats again it is right again, so that nothing tells of it."""
    right = clock.now() + timedelta(hours=1)
    Pulse.objects.update(at=right)
    Assignment.objects.update(shown=None, due=None)
    presence.show(run, [one.pk for one in open_of(run)])
    assert intake.expire(now=right + timedelta(seconds=59)) == []
    for second in range(5, 70, 5):
        outages.web_is_up(right + timedelta(seconds=second))
    assert intake.expire(now=right + timedelta(seconds=66)) == [run.pk]


def test_who_is_asked_while_the_clock_is_behind_does_not_wait_until_it_was_if_it_stays_so(run):
    behind = clock.now()
    Pulse.objects.update(at=behind + timedelta(hours=1))
    Assignment.objects.update(shown=None, due=None)
    presence.show(run, [one.pk for one in open_of(run)])
    outages.web_is_up(behind)
    latest = Assignment.objects.exclude(due=None).order_by("-due")[0]
    assert timedelta(seconds=59) < latest.due - behind < timedelta(seconds=90)
