"""Gold answers, the evidence that they make, alarms, and their dismissal."""

from datetime import timedelta

import numpy as np
import pytest

from selection.db import bulk
from selection.errors import Conflict, Refused
from selection.imports import catalog
from selection.imports.row_parsers import WorkerRow
from selection.models import (
    AuditEntry,
    Delivery,
    GoldAnswer,
    Question,
    Team,
    Watch,
    WatchedWorker,
    Webhook,
)
from selection.watches import alarms, begin, gold, steps
from selection.watches.gold import GivenGold
from tests.worlds import make_questions
from topk.drift import DriftDetector

from .worlds import answers, make_watch, settle, state_of

pytestmark = pytest.mark.django_db


def test_evidence_equals_that_of_the_detector():
    watch, right = make_watch(), "yyynynyyyn"
    for start in range(0, 10, 3):
        gold.record_gold(watch, answers("w1", right[start : start + 3], start))
        steps.advance_watch(watch.pk)
    row, detector = state_of(watch, "w1"), DriftDetector(0.8, 100)
    expected = detector.observe(detector.begin(1), [0] * 10, [one == "y" for one in right])
    assert row.evidence == pytest.approx(expected.sum())
    assert (row.answers, row.right, row.met) == (10, 7, 10)
    assert not GoldAnswer.objects.filter(counted=False).exists()


@pytest.mark.parametrize(
    ("rule", "once_in", "delta"), [("rate", 100, 0.05), ("lasting", 10, 0.2), ("share", 10, 0.2)]
)
def test_falling_worker_is_reported_once_and_others_are_not(rule, once_in, delta):
    watch = make_watch(rule=rule, once_in=once_in, delta=delta)
    Webhook.objects.create(url="https://example.org/", events=["watch.alarm"])
    gold.record_gold(watch, answers("w0", "n" * 20) + answers("w1", "y" * 20))
    steps.advance_watch(watch.pk)
    gold.record_gold(watch, answers("w0", "n" * 5, 20))
    steps.advance_watch(watch.pk)
    states = list(watch.workers.values_list("state", flat=True))
    assert states == ["alarm", "fine", "fine"]
    assert state_of(watch).answers == 25
    assert Delivery.objects.filter(kind="watch.alarm").count() == 1
    assert AuditEntry.objects.filter(kind="alarm").count() == 1


def test_workers_are_reported_together_also_without_new_answers():
    watch, wrong = make_watch(2, rule="share", delta=0.4), 0
    while state_of(watch).evidence < 2.5:  # a half of what one worker alone needs
        gold.record_gold(watch, answers("w0", "n", wrong))
        steps.advance_watch(watch.pk)
        wrong += 1
    assert state_of(watch).state == "falling"
    gold.record_gold(watch, answers("w1", "n" * wrong))
    steps.advance_watch(watch.pk)
    assert list(watch.workers.values_list("state", flat=True)) == ["alarm", "alarm"]


def test_step_leaves_workers_without_new_answers_alone():
    watch = make_watch(5)
    gold.record_gold(watch, answers("w0", "y"))
    steps.advance_watch(watch.pk)
    step = steps.WatchStep(watch)
    assert step.rows == []
    gold.record_gold(watch, answers("w3", "yn"))
    assert steps.WatchStep(watch).rows == [state_of(watch, "w3")]


def test_numbers_of_numpy_are_stored_in_bulk():
    ids = list(make_watch(2).workers.values_list("pk", flat=True))
    bulk.update_rows(WatchedWorker, ids, {"evidence": [np.float64(1.5), np.float64(2)]})
    stored = WatchedWorker.objects.filter(pk__in=ids).values_list("evidence", flat=True)
    assert list(stored) == [1.5, 2.0]


def test_alarm_knows_its_answer_within_a_batch():
    watch, right, detector = make_watch(), "yynyyn" + "n" * 20, DriftDetector(0.8, 100)
    gold.record_gold(watch, answers("w0", right))
    steps.advance_watch(watch.pk)
    evidence, count = detector.begin(1), 0
    while not detector.alarms(evidence)[0]:
        evidence = detector.observe(evidence, [0], [right[count] == "y"])
        count += 1
    assert (state_of(watch).alarmed_after, state_of(watch).answers) == (count, 26)


def test_answers_count_in_the_order_in_which_they_were_asked():
    watch, late = make_watch(), make_watch()
    rows = answers("w0", "ynnynynnyy")
    gold.record_gold(watch, rows)
    now = steps.db_clock.database_now() - timedelta(days=1)
    for place in (4, 0, 7, 1, 2, 3, 9, 8, 6, 5):
        one = rows[place]
        asked = now + timedelta(minutes=place)
        gold.record_gold(late, [GivenGold("w1", one.question, one.response, asked)])
        steps.advance_watch(late.pk)
    assert state_of(late, "w1").answers == 0  # others may be on their way
    settle(late)
    steps.advance_watch(watch.pk)
    assert state_of(late, "w1").evidence == pytest.approx(state_of(watch).evidence)
    assert bytes(state_of(late, "w1").memory) == bytes(state_of(watch).memory)


@pytest.mark.parametrize("rule", Watch.Rule.values)
def test_recount_gives_the_same(rule):
    watch, rng = make_watch(rule=rule, delta=0.4), np.random.default_rng(3)
    for start in range(0, 60, 20):
        for worker, share in (("w0", 0.3), ("w1", 0.9), ("w2", 0.7)):
            letters = "".join(np.where(rng.random(20) < share, "y", "n"))
            gold.record_gold(watch, answers(worker, letters, start))
        steps.advance_watch(watch.pk)
    columns = ("state", "evidence", "answers", "right", "met", "alarmed", "alarmed_after")
    before = list(watch.workers.values(*columns))
    assert before[0]["state"] == "alarm"
    steps.recount_watch(watch)
    steps.advance_watch(watch.pk)
    after = list(watch.workers.values(*columns))
    assert [row.pop("evidence") for row in after] == pytest.approx(
        [row.pop("evidence") for row in before]
    )
    assert after == before


def test_corrected_key_takes_the_alarm_back():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    assert state_of(watch).state == "alarm"
    for question in watch.question_sets.get().questions.all():
        question.accepted = ["no"]
        question.save()
    steps.recount_watch(watch)
    while steps.sweep_watches() or steps.advance_watch(watch.pk) or state_of(watch).recount:
        pass
    row = state_of(watch)
    assert (row.state, row.alarmed, row.right, row.answers) == ("fine", None, 20, 20)


def test_repeated_answer_changes_nothing_and_another_one_is_refused():
    watch = make_watch()
    first = gold.record_gold(watch, [GivenGold("w0", "q1", "yes")])
    again = gold.record_gold(watch, [GivenGold("w0", "q1", "yes"), GivenGold("w0", "q1", "no")])
    assert [fate.result for fate in (*first, *again)] == ["added", "unchanged", "refused"]
    assert again[1].why == "This question was answered otherwise already: the first answer counts."
    assert GoldAnswer.objects.count() == 1


@pytest.mark.parametrize(
    ("worker", "question", "response", "why"),
    [
        ("w9", "q1", "yes", "does not watch a worker “w9”."),
        ("w0", "q999", "yes", "There is no question “q999” in the question sets of this watch."),
        ("w0", "q1", " ", "The response is empty"),
    ],
)
def test_impossible_answer_is_refused_by_itself(worker, question, response, why):
    fates = gold.record_gold(
        make_watch(), [GivenGold(worker, question, response), GivenGold("w0", "q2", "yes")]
    )
    assert [fate.result for fate in fates] == ["refused", "added"]
    assert why in fates[0].why


def test_dismissed_worker_begins_anew():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    with pytest.raises(Refused, match="Give a reason"):
        alarms.dismiss_alarm(state_of(watch), "ada", " ")
    alarms.dismiss_alarm(state_of(watch), "ada", "the task changed")
    row = state_of(watch)
    assert (row.state, row.evidence, row.answers, row.met) == ("fine", 0, 0, 20)
    assert row.why == "the task changed"
    gold.record_gold(watch, answers("w0", "y" * 5, 20))
    steps.advance_watch(watch.pk)
    steps.recount_watch(watch)
    steps.advance_watch(watch.pk)
    assert (state_of(watch).answers, state_of(watch).state) == (5, "fine")
    entry = AuditEntry.objects.get(kind="alarm dismissed")
    assert (entry.who, entry.why, entry.item) == ("ada", "the task changed", str(row.worker_id))
    with pytest.raises(Conflict, match="has no alarm"):
        alarms.dismiss_alarm(state_of(watch), "ada", "again")


def test_alarm_pauses_if_the_watch_wants_it_and_resuming_keeps_it():
    watch = make_watch(pause_on_alarm=True)
    Webhook.objects.create(url="https://example.org/", events=["watch.paused"])
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    assert (state_of(watch).state, state_of(watch).why) == ("paused", "paused by the alarm")
    alarms.resume_worker(state_of(watch), "ada", "needed")
    assert state_of(watch).state == "alarm"
    alarms.pause_worker(state_of(watch), "ada")
    with pytest.raises(Conflict, match="is paused already"):
        alarms.pause_worker(state_of(watch), "ada")
    assert Delivery.objects.filter(kind="watch.paused").count() == 3


def test_stopped_watch_takes_no_answers_until_it_goes_on():
    watch = make_watch()
    begin.stop_watch(watch)
    with pytest.raises(Conflict, match="is stopped: resume it"):
        gold.record_gold(watch, answers("w0", "y"))
    begin.resume_watch(watch)
    assert gold.record_gold(watch, answers("w0", "y"))[0].result == "added"


def test_another_level_begins_anew():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 5))
    steps.advance_watch(watch.pk)
    begin.change_watch(watch, level=0.6)
    steps.advance_watch(watch.pk)
    row = state_of(watch)
    assert (row.level, row.evidence, row.answers) == (0.6, 0, 0)
    assert row.threshold == DriftDetector(0.6, 100).threshold


def test_worker_who_left_comes_back_with_their_evidence():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "nyn"))
    steps.advance_watch(watch.pk)
    evidence = state_of(watch).evidence
    assert begin.remove_workers(watch, ["w0", "w1"]) == 2
    assert gold.record_gold(watch, answers("w0", "y", 9))[0].result == "refused"
    assert begin.add_workers(watch, {"w0": None, "w1": 0.7}) == 1
    steps.advance_watch(watch.pk)
    assert state_of(watch).evidence == pytest.approx(evidence)
    assert state_of(watch, "w1").level == 0.7


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": " "}, "The name is empty."),
        ({"level": 1.2}, "Level: A level lies between 0.05 and 0.99."),
        ({"level": None}, "Give the watch a level, or “w0” one of their own."),
    ],
)
def test_impossible_watch_is_refused(changes, why):
    with pytest.raises(Refused) as refusal:
        make_watch(**changes)
    assert str(refusal.value) == why


def test_unknown_worker_is_refused_by_name():
    with pytest.raises(Refused, match="no worker “w7” in the pool"):
        begin.add_workers(make_watch(), {"w7": None, "w0": None})


def test_threshold_of_a_lasting_rule_is_shared_by_those_who_began_together():
    watch = make_watch(3, rule="lasting", delta=0.05)
    steps.advance_watch(watch.pk)
    thresholds = list(watch.workers.values_list("threshold", flat=True))
    assert thresholds == pytest.approx([3 / 0.05] * 3)
    begin.remove_workers(watch, ["w2"])
    begin.add_workers(watch, {"w2": None})
    steps.advance_watch(watch.pk)
    assert state_of(watch, "w2").threshold == pytest.approx(1 / 0.05)


def test_after_another_level_no_earlier_answer_counts_again():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 5))
    steps.advance_watch(watch.pk)
    gold.record_gold(watch, answers("w0", "n" * 5, 5))  # asked before the change, not counted yet
    begin.change_watch(watch, level=0.6)
    steps.advance_watch(watch.pk)
    steps.recount_watch(watch)
    steps.advance_watch(watch.pk)
    row = state_of(watch)
    assert (row.evidence, row.answers, row.met) == (0, 0, 10)
    gold.record_gold(watch, answers("w0", "nyy", 10))
    steps.advance_watch(watch.pk)
    assert (state_of(watch).answers, state_of(watch).right) == (3, 2)


def test_question_sets_of_another_team_are_refused():
    watch, foreign = make_watch(), make_questions(5)
    foreign.team = Team.objects.create(name="another")
    foreign.save()
    why = "The question sets must belong to the team of the pool."
    with pytest.raises(Refused, match=why):
        begin.create_watch(watch.pool, [foreign], {"w0": None}, name="foreign", level=0.8)
    with pytest.raises(Refused, match=why):
        begin.change_watch(watch, [foreign])


def test_answer_outside_the_choices_is_refused_or_wrong_as_asked():
    watch = make_watch()
    Question.objects.update(choices=["yes", "no"])
    given = [GivenGold("w0", "q1", "perhaps")]
    (refused,) = gold.record_gold(watch, given)
    assert (refused.result, "not among the choices" in refused.why) == ("refused", True)
    (wrong,) = gold.record_gold(watch, given, outside="wrong")
    assert wrong.result == "added"
    steps.advance_watch(watch.pk)
    assert (state_of(watch).answers, state_of(watch).right) == (1, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda watch: begin.remove_workers(watch, ["w0"]),
        lambda watch: alarms.pause_worker(state_of(watch), "ada"),
        lambda watch: begin.add_workers(watch, {"w3": None}),
    ],
)
def test_change_that_fails_half_way_changes_nothing(monkeypatch, change):
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "y"))
    steps.advance_watch(watch.pk)
    catalog.take_workers(watch.pool, [WorkerRow(1, "w3", "Worker 3", {})])

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("The disk is full.")

    monkeypatch.setattr(begin.audit, "record_entry", fail)
    with pytest.raises(RuntimeError):
        change(watch)
    assert list(watch.workers.order_by("pk").values_list("state", flat=True)) == ["fine"] * 3
