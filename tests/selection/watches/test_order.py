"""Questions count in the order asked; one without an answer in time counts as not right."""

from datetime import datetime, timedelta

import pytest
from django.test import Client

from selection import db_clock, privacy
from selection.answers import outages
from selection.errors import Conflict
from selection.models import DELETED, GoldAnswer, Heartbeat, Watch
from selection.watches import alarms, begin, gold, steps
from selection.watches.gold import GivenGold

from .test_requalification import begin_test
from .worlds import answers, make_watch, settle, state_of

pytestmark = pytest.mark.django_db


def asked_in_turn(right: str, since: datetime, first: int = 20) -> list[GivenGold]:
    """Answers of w0 with the times at which their questions were asked, all of them past."""
    tick = timedelta(microseconds=1)
    return [
        GivenGold(one.worker, one.question, one.response, since + place * tick)
        for place, one in enumerate(answers("w0", right, first), 1)
    ]


def ask(watch: Watch, first: int, count: int = 1) -> None:
    """Tell that w0 was asked these questions."""
    gold.record_gold(watch, [GivenGold("w0", f"q{first + i}", None) for i in range(count)])


def advance(watch: Watch) -> tuple[str, int, int]:
    steps.advance_watch(watch.pk)
    row = state_of(watch)
    return row.state, row.answers, row.right


@pytest.mark.both_databases
def test_right_answers_that_come_first_pass_no_test():
    watch = begin_test()
    rows = asked_in_turn("yynyn" * 8, state_of(watch).since)
    for response in ("yes", "no"):
        gold.record_gold(watch, [row for row in rows if row.response == response])
        assert advance(watch) == ("testing", 0, 0)
    settle(watch)
    row = state_of(watch)
    assert (row.state, row.why.split(":")[0]) == ("paused", "did not pass the test")


def test_wrong_answers_that_come_first_raise_no_alarm():
    watch = make_watch()
    now = db_clock.database_now() - timedelta(minutes=1)
    rows = asked_in_turn("yyyyn" * 8, now)
    for response in ("no", "yes"):
        gold.record_gold(watch, [row for row in rows if row.response == response])
        advance(watch)
    settle(watch)
    assert advance(watch)[1:] == (40, 32)
    assert state_of(watch).alarmed is None


def test_answers_wait_for_a_question_that_was_asked_before():
    watch = make_watch()
    ask(watch, 0, 2)
    gold.record_gold(watch, answers("w0", "yy", 1))
    assert advance(watch) == ("fine", 0, 0)
    gold.record_gold(watch, answers("w0", "n", 0))
    assert advance(watch) == ("fine", 3, 2)


@pytest.mark.both_databases
def test_question_without_an_answer_in_time_counts_as_not_right_and_refuses_a_late_one():
    watch = make_watch()
    ask(watch, 0)
    gold.record_gold(watch, answers("w0", "y", 1))
    steps.sweep_watches()
    assert advance(watch)[1] == 0
    settle(watch)
    assert advance(watch)[1:] == (2, 1)
    fates = gold.record_gold(watch, answers("w0", "y", 0))
    assert [(one.result, one.why[:8]) for one in fates] == [("refused", "Too late")]
    steps.recount_watch(watch)
    assert advance(watch)[1:] == (2, 1)


def test_question_may_be_asked_and_answered_in_one_request():
    watch = make_watch()
    given = [GivenGold("w0", "q0", None), GivenGold("w0", "q0", "yes"), GivenGold("w0", "q0", None)]
    fates = gold.record_gold(watch, given)
    assert [one.result for one in fates] == ["added", "added", "unchanged"]
    assert advance(watch)[1:] == (1, 1)
    again = gold.record_gold(watch, [GivenGold("w0", "q0", "no"), GivenGold("w0", "q0", None)])
    assert [one.result for one in again] == ["refused", "unchanged"]


def test_answer_that_was_passed_over_counts_as_not_right_in_its_place():
    watch = make_watch(minutes=5)
    hour_ago = db_clock.database_now() - timedelta(hours=1)
    slow, *others = asked_in_turn("yyny", hour_ago)
    gold.record_gold(watch, others)
    settle(watch)
    (fate,) = gold.record_gold(watch, [slow])
    assert (fate.result, fate.why) == ("added", gold.PASSED_OVER)
    assert advance(watch)[1:] == (4, 2)


def test_answer_in_time_counts_although_a_later_one_was_counted():
    watch = make_watch(minutes=5)
    gold.record_gold(watch, answers("w0", "n"))
    advance(watch)
    minute_ago = db_clock.database_now() - timedelta(minutes=1)
    gold.record_gold(watch, asked_in_turn("y", minute_ago))
    settle(watch)
    assert advance(watch)[1:] == (2, 1)


def test_test_stays_open_until_all_that_was_asked_before_is_closed():
    watch = begin_test()
    ask(watch, 20)
    gold.record_gold(watch, answers("w0", "y" * 40, 21))
    assert advance(watch)[0] == "testing"
    gold.record_gold(watch, answers("w0", "y"))
    gold.record_gold(watch, answers("w0", "y", 20))
    assert advance(watch)[0] == "fine"


@pytest.mark.both_databases
def test_time_to_answer_does_not_run_while_the_watch_is_stopped():
    watch = make_watch()
    ask(watch, 0)
    begin.stop_watch(watch)
    Watch.objects.update(stopped=db_clock.database_now() - timedelta(hours=1))
    GoldAnswer.objects.update(due=db_clock.database_now() - timedelta(minutes=59))
    steps.sweep_watches()
    watch.refresh_from_db()
    begin.resume_watch(watch)
    steps.sweep_watches()
    assert GoldAnswer.objects.get().due > db_clock.database_now()


@pytest.mark.both_databases
def test_outage_gives_the_time_back():
    watch = make_watch()
    ask(watch, 0)
    now = db_clock.database_now()
    Heartbeat.objects.create(name=Heartbeat.WEB, at=now)
    GoldAnswer.objects.update(due=now + timedelta(minutes=1))
    steps.sweep_watches()
    outages.record_heartbeat(now + timedelta(minutes=30))
    assert GoldAnswer.objects.get().due == now + timedelta(minutes=31)


# -- what interrupts a test ends it not


def test_pause_does_not_end_a_test():
    watch = begin_test()
    gold.record_gold(watch, answers("w0", "nyn", 20))
    advance(watch)
    alarms.pause_worker(state_of(watch), "ada")
    gold.record_gold(watch, answers("w0", "n" * 20, 23))
    assert advance(watch)[0] == "paused"
    assert state_of(watch).alarmed is None
    alarms.resume_worker(state_of(watch), "ada")
    assert state_of(watch).state == "testing"
    advance(watch)
    assert state_of(watch).why.startswith("did not pass the test")


@pytest.mark.parametrize("paused", [False, True])
def test_worker_who_leaves_in_a_test_comes_back_to_it(paused):
    watch = begin_test()
    if paused:
        alarms.pause_worker(state_of(watch), "ada")
    begin.remove_workers(watch, ["w0"])
    begin.add_workers(watch, {"w0": None})
    assert state_of(watch).state == "testing"


def test_worker_who_leaves_in_a_pause_comes_back_to_it():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "y"))
    advance(watch)
    alarms.pause_worker(state_of(watch), "ada")
    begin.remove_workers(watch, ["w0"])
    begin.add_workers(watch, {"w0": None})
    assert (state_of(watch).state, state_of(watch).before) == ("paused", "")
    alarms.resume_worker(state_of(watch), "ada")
    assert state_of(watch).state == "fine"


def test_open_question_of_a_worker_who_leaves_says_nothing():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "y"))
    advance(watch)
    ask(watch, 1)
    begin.remove_workers(watch, ["w0"])
    assert GoldAnswer.objects.count() == 1


def test_another_level_brings_nobody_back():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "y"))
    advance(watch)
    begin.remove_workers(watch, ["w0"])
    begin.change_watch(watch, level=0.6)
    assert state_of(watch).state == "left"


def test_another_tolerance_begins_a_test_anew_and_nothing_else():
    watch = begin_test()
    gold.record_gold(watch, answers("w0", "yny", 20) + answers("w1", "yny", 20))
    advance(watch)
    begin.change_watch(watch, tolerance=0.2)
    assert (state_of(watch).state, state_of(watch).answers) == ("testing", 0)
    assert state_of(watch, "w1").answers == 3


def test_new_test_in_a_pause_needs_a_try():
    watch = begin_test()
    alarms.pause_worker(state_of(watch), "ada")
    with pytest.raises(Conflict, match="has had 1 test"):
        alarms.requalify_worker(state_of(watch), "ada")


def test_api_takes_questions_that_were_asked(token):
    watch = make_watch()
    api = Client(headers={"authorization": f"Bearer {token}"})
    at = f"/api/watches/{watch.pk}/gold"

    def send(*rows: tuple[str, str | None]) -> dict:
        body = [{"worker": "w0", "question": key, "response": said} for key, said in rows]
        return api.post(at, {"answers": body}, content_type="application/json").json()

    assert send(("q0", None), ("q1", "yes"))["added"] == 2
    assert advance(watch)[1] == 0
    assert [row["due_at"] is None for row in api.get(at).json()] == [False, True]
    assert send(("q0", "yes"))["added"] == 1
    assert advance(watch)[1:] == (2, 2)
    missing = {"answers": [{"worker": "w0", "question": "q2"}]}
    assert api.post(at, missing, content_type="application/json").status_code == 422


def test_question_without_an_answer_stays_one_when_responses_are_deleted(settings):
    settings.RESPONSES_DAYS = 30
    watch = make_watch()
    ask(watch, 0)
    gold.record_gold(watch, answers("w0", "y", 1))
    settle(watch)
    GoldAnswer.objects.update(at=db_clock.database_now() - timedelta(days=31))
    privacy.apply_retention()
    assert sorted(GoldAnswer.objects.values_list("response", flat=True)) == ["", DELETED]
    assert gold.record_gold(watch, answers("w0", "y"))[0].why.startswith("Too late")
