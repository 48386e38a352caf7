"""Messages written to the outbox."""

import json
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection import engine, reports, wakeups, webhooks
from selection.models import Answer, Delivery, Run, Skill, Team, Webhook
from selection.questions import corrections
from selection.questions.corrections import Gold
from selection.runs import lifecycle, manual_verdicts
from selection.webhooks import registration
from tests.worlds import answer_all, crowd, make_questions, make_run, play

pytestmark = pytest.mark.django_db
ALL = Webhook.Event.values


def listen(*events: str, team: Team | None = None) -> Webhook:
    return registration.create_webhook(team, "https://example.org/hook", events or ALL)


def told(kind: str) -> list[dict]:
    rows = Delivery.objects.filter(kind=kind).order_by("id")
    return [json.loads(row.body)["data"] for row in rows]


def test_a_run_tells_of_its_questions_its_verdicts_and_its_end():
    listen()
    run = play(make_run(), crowd(3, good=2))
    opened = told("assignment.opened")
    slips = [slip for one in opened for slip in one["assignments"]]
    assert {one["worker"] for one in opened} == {f"w{i}" for i in range(6)}
    assert len(slips) == sum(step.dealt for step in run.history.all())
    assert len({slip["assignment"] for slip in slips}) == len(slips)
    accepted, rejected = told("worker.accepted"), told("worker.rejected")
    assert sorted(one["worker"] for one in accepted) == ["w0", "w1"]
    assert len(rejected) == 4
    assert accepted[0]["by"] == "algorithm"
    assert accepted[0]["reason"]
    (end,) = told("run.ended")
    assert (end["run"], end["run_name"]) == (run.pk, run.name)
    assert (end["ending"], end["guarantee_kept"]) == ("guarantee", True)


def test_dealt_assignments_are_announced_once_and_completely():
    listen("assignment.opened")
    run = make_run()
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, crowd(3, good=2))
    slips = [s["assignment"] for one in told("assignment.opened") for s in one["assignments"]]
    dealt = run.candidates.values_list("assignments__pk", flat=True)
    assert sorted(slips) == sorted(pk for pk in dealt if pk)


def test_step_without_a_webhook_writes_no_delivery_and_costs_one_query():
    run = make_run()
    with CaptureQueriesContext(connection) as queries:
        engine.advance(run.pk)
    assert sum("selection_webhook" in one["sql"] for one in queries.captured_queries) == 1
    assert not Delivery.objects.exists()


def test_webhook_gets_only_requested_events_of_its_team():
    listen("run.ended")
    listen(team=Team.objects.create(name="others"))
    off = listen()
    registration.change_webhook(off, enabled=False)
    play(make_run(), crowd(3, good=2))
    assert [(row.kind, row.webhook_id) for row in Delivery.objects.all()] == [
        ("run.ended", Webhook.objects.order_by("pk")[0].pk)
    ]


def test_rolled_back_event_is_never_announced():
    listen()
    run = make_run()
    with transaction.atomic():
        lifecycle.stop_run(run)
        assert told("run.ended")
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_a_crowd_that_is_not_there_is_no_news():
    listen()
    with wakeups.silenced():
        play(make_run(), crowd(3, good=2))
    assert not Delivery.objects.exists()


def test_a_verdict_by_hand_is_told_and_taking_it_back_is_not():
    listen("worker.rejected")
    run = make_run()
    row = run.candidates.first()
    manual_verdicts.override_verdict(row, -1, "me", "copied")
    manual_verdicts.override_verdict(row, None, "me")
    (one,) = told("worker.rejected")
    assert (one["worker"], one["by"], one["reason"]) == (row.worker.key, "hand", "copied")


def test_a_verdict_that_a_correction_changes_is_told():
    run = play(make_run(n=3, k=1, algorithm="certified", questions=60), crowd(3, good=1))
    listen("worker.accepted", "worker.rejected")
    before = dict(run.candidates.values_list("worker__key", "verdict"))
    Answer.objects.filter(run=run).update(response="yes")
    Answer.objects.filter(assignment__candidate__worker__key="w0").update(response="no")
    for question in run.question_set.questions.all():
        gold = Gold("Anew?", ["yes"], question.choices, question.grading)
        corrections.correct_question(question, gold, "me", "the key was wrong")
    after = dict(run.candidates.values_list("worker__key", "verdict"))
    assert before != after
    last = {one["worker"]: -1 for one in told("worker.rejected")}
    last |= {one["worker"]: 1 for one in told("worker.accepted")}
    assert last == {worker: verdict for worker, verdict in after.items() if verdict}


def test_alert_is_announced_once_until_it_recurs():
    listen("run.needs_attention")
    run = make_run()
    paused = timezone.now() - timedelta(days=2)
    lifecycle.pause_run(run)
    Run.objects.filter(pk=run.pk).update(paused=paused)
    for _ in range(3):
        webhooks.notify_new_alerts(reports.list_alerts)
    (one,) = told("run.needs_attention")
    assert [need["kind"] for need in one["needs"]] == ["paused"]
    run.refresh_from_db()
    lifecycle.resume_run(run)
    webhooks.notify_new_alerts(reports.list_alerts)
    lifecycle.pause_run(run)
    Run.objects.filter(pk=run.pk).update(paused=paused)
    webhooks.notify_new_alerts(reports.list_alerts)
    assert len(told("run.needs_attention")) == 2


def test_event_names_the_skill_in_a_run_of_several_kinds():
    listen("worker.accepted")
    run = make_run(algorithm="clucb-pac", start=False)
    Skill.objects.create(run=run, number=1, question_set=make_questions(20), k=1)
    lifecycle.start_run(run)
    run = Run.objects.get(pk=run.pk)
    manual_verdicts.override_verdict(run.candidates.filter(skill=1)[0], 1, "me", "well known")
    (one,) = told("worker.accepted")
    assert one["skill"] == str(run.skills[1])
