"""Message of a run that waits for silent workers: their names, and the end of the wait."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from selection import engine, reports, webhooks
from selection.answers import grace_period, presence, recording
from selection.models import Answer, ApiToken, Assignment, Heartbeat, Run, Step, Webhook
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db

SILENT = {"w0"}


@pytest.fixture
def run(db) -> Run:
    """Return a new run in which every worker except w0 has answered within a moment and waits."""
    Heartbeat.objects.create(pk=Heartbeat.SWEEP, at=timezone.now() + timedelta(days=1))
    values: dict[str, object] = {"algorithm": "credible", "n": 6, "questions": 60, "minutes": 120}
    run = make_run(**values, epsilon=0.02, slots=12, slots_per_worker=2, seed=3)
    respond = crowd(5, good=3)
    for _ in range(200):
        engine.advance(run.pk)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        presence.record_shown(run, [assignment.pk for assignment in open_of(run)])
        others = [
            assignment
            for assignment in open_of(run)
            if assignment.candidate.worker.key not in SILENT
        ]
        if not others:
            return run
        for assignment in others:
            recording.record_answer(assignment.pk, respond(assignment))
    raise AssertionError("It never waited for anybody.")


def pass_time(run: Run, **time: float) -> None:
    ago = timedelta(**time)
    Run.objects.filter(pk=run.pk).update(
        started=F("started") - ago, absence_since=F("absence_since") - ago
    )
    run.candidates.update(seen=F("seen") - ago)
    Step.objects.filter(run=run).update(at=F("at") - ago)
    Answer.objects.filter(run=run).update(at=F("at") - ago)
    Assignment.objects.filter(candidate__run=run).update(shown=F("shown") - ago, due=F("due") - ago)
    run.refresh_from_db()


def waiting_message(run: Run) -> str:
    return " ".join(need.words for need in reports.list_alerts(run) if need.kind == "waits")


def slow_down(run: Run, **time: float) -> None:
    """Pretend that every answer took this long."""
    answered = Assignment.objects.filter(candidate__run=run, answer__isnull=False)
    answered.update(shown=F("shown") - timedelta(**time))


def test_message_names_blocking_workers_and_the_end_of_grace(run):
    slow_down(run, seconds=12)
    pass_time(run, seconds=19)
    assert waiting_message(run) == ""
    pass_time(run, seconds=12)
    assert waiting_message(run) == (
        "Waiting for w0 (asked 30 seconds ago). In 20 seconds the run moves on to other workers, "
        "if their answers help."
    )
    pass_time(run, seconds=30)
    assert "In a moment the run moves on" in waiting_message(run)


def test_no_message_in_the_first_half_of_a_slow_crowd_s_grace(run):
    slow_down(run, minutes=2)
    pass_time(run, minutes=4)
    assert waiting_message(run) == ""
    pass_time(run, minutes=2, seconds=5)
    assert "w0 (asked 6 minutes ago). In 4 minutes the run" in waiting_message(run)


def test_message_states_the_deadline_if_no_other_worker_is_left(run):
    pass_time(run, minutes=110, seconds=5)
    assert waiting_message(run) == (
        "Waiting for w0 (asked 110 minutes ago). The run has no other worker to ask. A question "
        "not answered in time counts as wrong, the first in 10 minutes."
    )


def test_message_if_the_budget_is_spent(run):
    slow_down(run, seconds=12)
    pass_time(run, seconds=31)
    spent = sum(run.candidates.values_list("asked", flat=True))
    Run.objects.filter(pk=run.pk).update(budget=spent)
    run.refresh_from_db()
    assert "The run has no other worker to ask" in waiting_message(run)


def test_message_suggests_withdrawing_workers_without_a_visit(run):
    Assignment.objects.open().filter(candidate__run=run).update(shown=None, due=None)
    pass_time(run, hours=3)
    assert waiting_message(run).endswith(
        "No question has been opened: withdraw workers that will not come."
    )


def test_message_names_a_few_workers_and_counts_the_others(run):
    Answer.objects.filter(run=run).delete()
    run.candidates.update(pulls=0)
    Run.objects.filter(pk=run.pk).update(slots=10_000)
    run.refresh_from_db()
    pass_time(run, minutes=70)
    assert "for w0, w1, w2, w3, w4 and 1 other worker (last asked" in waiting_message(run)


def test_no_message_if_workers_answer_meanwhile(run, monkeypatch):
    pass_time(run, minutes=110)

    def answered(run: Run, now: object) -> grace_period.GracePeriod:
        Assignment.objects.open().delete()
        return grace_period.GracePeriod(timedelta(minutes=5), timedelta(minutes=1))

    monkeypatch.setattr(grace_period, "current_wait", answered)
    assert waiting_message(run) == ""


def test_no_message_if_all_slots_are_in_use(run):
    pass_time(run, minutes=110)
    Run.objects.filter(pk=run.pk).update(slots=Assignment.objects.open().count())
    run.refresh_from_db()
    assert waiting_message(run) == ""


def test_page_and_api_show_the_message(run, admin_client, client):
    pass_time(run, minutes=110)
    page = admin_client.get(admin_url("run_page", run.pk))
    text = text_of(page)
    assert "Waiting for 1 worker" in text
    assert text.count("Waiting for w0 (asked 110 minutes ago)") == 1
    token = {"authorization": f"Bearer {ApiToken.issue('reader')}"}
    needs = client.get(f"/api/runs/{run.pk}", headers=token).json()["needs"]
    [message] = [need["words"] for need in needs if need["kind"] == "waits"]
    assert message.startswith("Waiting for w0 (asked 110 minutes ago)")


def test_webhooks_do_not_send_the_message(run):
    pass_time(run, minutes=110)
    hook = Webhook.objects.create(
        team=run.team, url="https://example.org", events=[Webhook.Event.ATTENTION]
    )
    webhooks.notify_new_alerts(reports.list_alerts)
    run.refresh_from_db()
    assert run.alerts_sent == []
    assert hook.enabled
