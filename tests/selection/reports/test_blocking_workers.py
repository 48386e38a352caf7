"""A run that waits for workers who do not answer says for whom, and when it goes on."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from selection import engine, reports, webhooks
from selection.answers import grace_period, presence, recording
from selection.models import Answer, ApiToken, Assignment, Pulse, Run, Step, Webhook
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db

SILENT = {"w0"}


@pytest.fixture
def run(db) -> Run:
    """Everybody but w0 has answered within a moment, and gets nothing more; it began just now."""
    Pulse.objects.create(pk=Pulse.SWEEP, at=timezone.now() + timedelta(days=1))
    values: dict[str, object] = {"algorithm": "credible", "n": 6, "questions": 60, "minutes": 120}
    run = make_run(**values, epsilon=0.02, slots=12, slots_per_worker=2, seed=3)
    respond = crowd(5, good=3)
    for _ in range(200):
        engine.advance(run.pk)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        presence.record_shown(run, [one.pk for one in open_of(run)])
        others = [one for one in open_of(run) if one.candidate.worker.key not in SILENT]
        if not others:
            return run
        for one in others:
            recording.record_answer(one.pk, respond(one))
    raise AssertionError("It never waited for anybody.")


def let_pass(run: Run, **time: float) -> None:
    ago = timedelta(**time)
    Run.objects.filter(pk=run.pk).update(started=F("started") - ago, called=F("called") - ago)
    run.candidates.update(seen=F("seen") - ago)
    Step.objects.filter(run=run).update(at=F("at") - ago)
    Answer.objects.filter(run=run).update(at=F("at") - ago)
    Assignment.objects.filter(candidate__run=run).update(shown=F("shown") - ago, due=F("due") - ago)
    run.refresh_from_db()


def said(run: Run) -> str:
    return " ".join(need.words for need in reports.list_alerts(run) if need.kind == "waits")


def slow(run: Run, **time: float) -> None:
    """As if every answer had taken so long."""
    answered = Assignment.objects.filter(candidate__run=run, answer__isnull=False)
    answered.update(shown=F("shown") - timedelta(**time))


def test_it_says_for_whom_it_waits_and_when_others_are_asked(run):
    slow(run, seconds=12)
    let_pass(run, seconds=19)
    assert said(run) == ""
    let_pass(run, seconds=12)
    assert said(run) == (
        "It waits for w0, asked 30 seconds ago: others are asked in 20 seconds, if answers of "
        "theirs are of use."
    )
    let_pass(run, seconds=30)
    assert "others are asked in a moment" in said(run)


def test_it_says_nothing_before_half_of_what_a_slow_crowd_is_given(run):
    slow(run, minutes=2)
    let_pass(run, minutes=4)
    assert said(run) == ""
    let_pass(run, minutes=2, seconds=5)
    assert "w0, asked 6 minutes ago: others are asked in 3 minutes" in said(run)


def test_where_nobody_else_is_to_be_asked_it_says_when_their_time_is_up(run):
    let_pass(run, minutes=110, seconds=5)
    assert said(run) == (
        "It waits for w0, asked 110 minutes ago, and there is nobody else to ask. What is not "
        "answered in time counts as not right, the first in 9 minutes."
    )


def test_nobody_else_is_asked_where_the_money_is_out(run):
    slow(run, seconds=12)
    let_pass(run, seconds=31)
    spent = sum(run.candidates.values_list("asked", flat=True))
    Run.objects.filter(pk=run.pk).update(budget=spent)
    run.refresh_from_db()
    assert "there is nobody else to ask" in said(run)


def test_those_who_did_not_look_can_be_withdrawn(run):
    Assignment.objects.open().filter(candidate__run=run).update(shown=None, due=None)
    let_pass(run, hours=3)
    assert said(run).endswith("None of them has looked at it: withdraw whoever will not come.")


def test_few_are_named_and_the_others_counted(run):
    Answer.objects.filter(run=run).delete()
    run.candidates.update(pulls=0)
    Run.objects.filter(pk=run.pk).update(slots=10_000)
    run.refresh_from_db()
    let_pass(run, minutes=70)
    assert "for w0, w1, w2, w3, w4 and 1 other worker, the last of whom was asked" in said(run)


def test_it_says_nothing_of_who_answers_in_that_moment(run, monkeypatch):
    let_pass(run, minutes=110)

    def answered(run: Run, now: object) -> grace_period.GracePeriod:
        Assignment.objects.open().delete()
        return grace_period.GracePeriod(timedelta(minutes=5), timedelta(minutes=1))

    monkeypatch.setattr(grace_period, "current_wait", answered)
    assert said(run) == ""


def test_a_run_whose_slots_are_all_out_waits_for_nobody_in_particular(run):
    let_pass(run, minutes=110)
    Run.objects.filter(pk=run.pk).update(slots=Assignment.objects.open().count())
    run.refresh_from_db()
    assert said(run) == ""


def test_the_page_and_the_api_say_so(run, admin_client, client):
    let_pass(run, minutes=110)
    page = admin_client.get(admin_url("run_page", run.pk))
    assert "Held up. It waits for w0, asked 110 minutes ago" in text_of(page)
    token = {"authorization": f"Bearer {ApiToken.issue('reader')}"}
    needs = client.get(f"/api/runs/{run.pk}", headers=token).json()["needs"]
    [words] = [need["words"] for need in needs if need["kind"] == "waits"]
    assert words.startswith("It waits for w0, asked 110 minutes ago")


def test_no_webhook_says_so(run):
    let_pass(run, minutes=110)
    hook = Webhook.objects.create(
        team=run.team, url="https://example.org", events=[Webhook.Event.ATTENTION]
    )
    webhooks.notify_new_alerts(reports.list_alerts)
    run.refresh_from_db()
    assert run.told == []
    assert hook.on
