"""A run's history, and the messages about its workers and its end."""

import json

import pytest

from selection.history import events, notifications
from selection.models import Delivery, Run, Webhook
from selection.runs import lifecycle
from selection.webhooks import registration
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db


def test_an_event_has_its_step_its_user_and_a_reason_of_300_characters():
    run = make_run()
    event = events.write_event(run, "change", "The budget is 40.", "ada", "x" * 400)
    event.refresh_from_db()
    assert (event.run, event.step, event.who) == (run, run.steps, "ada")
    assert event.what == "The budget is 40."
    assert event.why == "x" * 300


def test_only_tested_workers_with_a_verdict_have_a_message():
    run = play(make_run(algorithm="certified", epsilon=0.3, slots=20), crowd(5, good=2))
    rows = list(run.candidates.select_related("worker"))
    messages = list(notifications.verdict_messages(run, rows))
    assert len(messages) == sum(bool(row.pulls and row.verdict) for row in rows) > 0
    untested = [row for row in rows if not row.pulls]
    assert list(notifications.verdict_messages(run, untested)) == []


def test_the_end_of_a_run_is_a_message():
    run = make_run()
    registration.create_webhook(run.team, "https://example.com/hook", [Webhook.Event.ENDED], True)
    lifecycle.stop_run(Run.objects.get())
    assert json.loads(Delivery.objects.get().body)["data"]["ending"] == Run.Ending.STOPPED
