"""The one line on a running run's page, and the alerts with their fixes."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from selection import engine
from selection.admin.run.status_line import show_alerts, write_status
from selection.facts import Facts
from selection.models import Run, Step
from selection.reports import Alert, read_progress
from selection.runs import lifecycle
from selection.runs.roster import enrolment
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db

LIKELY = Facts(about="about 54 more answers, 6 minutes", risk="")
GOLD = Alert("gold", "2 of the 6 undecided workers have almost no gold questions left.")


def run_with_answers() -> Run:
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def line_of(run: Run, remaining: Facts | None = LIKELY, *alerts: Alert) -> str:
    return write_status(run, read_progress(run), remaining, alerts, []).text


def test_a_run_without_alerts_is_on_track():
    assert line_of(run_with_answers()) == "On track: about 54 more answers, 6 minutes"


def test_a_run_without_a_forecast_does_not_claim_to_be_on_track():
    assert line_of(run_with_answers(), Facts(about="")) == ("Running: no estimate yet")


def test_the_most_urgent_alert_comes_before_notes_and_waits():
    alerts = (Alert("waits", "Waiting for w0."), Alert("fit", "A doubt."), GOLD)
    assert line_of(run_with_answers(), LIKELY, *alerts) == (
        "Action needed: running low on gold questions"
    )


def test_a_risk_of_an_early_end_is_stated_with_a_fix():
    run = run_with_answers()
    remaining = Facts(about="about 9 more answers", risk="In 9 of 20 …")
    status = write_status(run, read_progress(run), remaining, [], [])
    assert status.text == "At risk: questions or budget may run out"
    (alert,) = show_alerts(run, [], status, remaining)
    assert (alert.title, alert.words) == ("", "In 9 of 20 …")
    assert [fix.page for fix in alert.fixes] == ["do_change", "copy"]


def test_the_line_states_the_title_of_its_alert_once():
    run = run_with_answers()
    alerts = [Alert("sharing", "1 sign."), GOLD]
    status = write_status(run, read_progress(run), LIKELY, alerts, [])
    first, second = show_alerts(run, alerts, status, LIKELY)
    assert (status.kind, first.title, second.title) == (
        "sharing",
        "",
        "Running low on gold questions",
    )


def test_status_line_names_the_wait_for_first_answers_and_a_pause():
    run = make_run()
    assert line_of(run) == "Waiting for the first answers"
    lifecycle.pause_run(run)
    run.refresh_from_db()
    assert line_of(run) == "Paused"


def test_an_unreachable_redis_is_no_wait_for_workers():
    run = run_with_answers()
    alert = Alert("waits", "Redis does not answer. Answers are kept.", is_outage=True)
    assert line_of(run, LIKELY, alert) == "Action needed: Redis does not answer"


def test_fixes_on_the_page_lead_to_a_page(requester: Client):
    run = run_with_answers()
    run.candidates.update(asked=run.deck_size)
    Step.objects.update(at=timezone.now() - timedelta(minutes=1))
    page = requester.get(admin_url("run_page", run.pk))
    assert "Action needed: running low on gold questions" in text_of(page)
    fixes = [fix for alert in page.context["alerts"] for fix in alert.fixes]
    assert fixes
    for fix in fixes:
        assert requester.get(admin_url(f"run_{fix.page}", run.pk)).status_code == 200


@pytest.mark.parametrize("kind", ["gold", "quiet", "joins", "broken", "stuck"])
def test_fixes_of_an_alert_lead_to_a_page(requester: Client, kind: str):
    run = run_with_answers()
    status = write_status(run, read_progress(run), None, [], [])
    (shown,) = show_alerts(run, [Alert(kind, "Words.")], status, None)
    assert shown.fixes
    pages = [fix.url for fix in shown.fixes if not fix.url.startswith("#")]
    assert {requester.get(page).status_code for page in pages} <= {200}


def test_roster_is_closed_by_one_click_once_enough_have_joined(requester):
    run = make_run(n=0, enrolling=True)
    page = requester.get(admin_url("run_page", run.pk))
    assert "Waiting for workers to join" in text_of(page)
    assert 'value="close"' not in page.content.decode()
    for key in ("anna", "bob", "carl"):
        enrolment.enrol_worker(run, key)
    page = requester.get(admin_url("run_page", run.pk))
    assert "Waiting for workers to join" not in text_of(page)
    assert "3 workers joined: close the roster when all are here" in text_of(page)
    assert 'value="close"' in page.content.decode()
    requester.post(admin_url("run_do_change", run.pk), {"do": "close"})
    run.refresh_from_db()
    assert not run.enrolling
