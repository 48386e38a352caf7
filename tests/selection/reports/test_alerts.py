"""Alerts of a run, on the overview, its page and the API."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from selection import engine, reports
from selection.models import Assignment, Heartbeat, Run, Step
from selection.reports.durations import format_duration
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def keep_sweeping(db):
    """Let the background work go on, regardless of the time at which a test looks."""
    Heartbeat.objects.create(pk=Heartbeat.SWEEP, at=timezone.now() + timedelta(days=365))


def alert_kinds(run: Run, **later: float) -> list[str]:
    """Return the kinds of alerts after this time."""
    run.refresh_from_db()
    return [need.kind for need in reports.list_alerts(run, now=timezone.now() + timedelta(**later))]


def alert_text(run: Run, **later: float) -> str:
    run.refresh_from_db()
    alerts = reports.list_alerts(run, now=timezone.now() + timedelta(**later))
    return " ".join(need.words for need in alerts)


def test_healthy_run_has_no_alert():
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    assert alert_kinds(run) == []
    assert alert_kinds(make_run(start=False)) == []


def test_alert_after_six_hours_without_answers():
    run = make_run()
    engine.advance(run.pk)
    assert alert_kinds(run, hours=5.9) == []
    run.candidates.filter(worker__key__in=["w0", "w1"]).update(seen=timezone.now())
    text = alert_text(run, hours=6.1)
    assert text == ("No answer or visit for 6 hours; 4 of 6 workers have not opened their link.")


def test_alert_if_no_question_is_open_and_nothing_moves():
    run = make_run()
    assert alert_kinds(run, minutes=9) == []
    assert alert_kinds(run, minutes=11) == ["stuck"]
    engine.advance(run.pk)
    assert alert_kinds(run, minutes=11) == []
    run.candidates.update(asked=0)
    Assignment.objects.all().delete()
    assert alert_kinds(run, minutes=11) == ["stuck"]
    Step.objects.update(at=timezone.now() + timedelta(minutes=5))
    assert alert_kinds(run, minutes=11) == []


def test_alert_if_recorded_answers_are_missing():
    run = make_run(recorded_only=True)
    assert alert_kinds(run) == ["stuck"]
    Run.objects.update(has_recorded=True)
    assert alert_kinds(run) == []


def test_alert_if_a_tenth_of_the_gold_is_left():
    run = make_run(questions=20)
    run.candidates.filter(worker__key="w0").update(asked=17)
    assert alert_kinds(run) == []
    run.candidates.filter(worker__key__in=["w0", "w1"]).update(asked=18)
    assert "2 of the 6 undecided workers have almost no gold questions left" in alert_text(run)
    run.candidates.update(verdict=1)
    assert alert_kinds(run) == []


def test_alert_for_an_open_roster_without_new_workers():
    run = make_run(enrolling=True, k=2)
    assert alert_kinds(run, hours=23) == []
    assert alert_text(run, hours=25) == (
        "No one has joined for 25 hours. The open roster has 6 workers."
    )
    run.candidates.exclude(worker__key__in=["w0", "w1"]).delete()
    assert "needs more than 2" in alert_text(run, hours=25)


def test_alert_for_a_long_pause():
    run = make_run()
    lifecycle.pause_run(run)
    assert alert_kinds(run, hours=23) == []
    assert (
        alert_text(run, hours=72) == "The run has been paused for 3 days: no question is assigned."
    )


def test_an_ended_run_is_ready_for_review_until_it_is_archived():
    run = make_run()
    lifecycle.stop_run(run)
    assert alert_kinds(run) == ["review"]
    Run.objects.update(archived=timezone.now())
    assert alert_kinds(run) == []


def test_alerts_include_the_algorithm_s_doubts():
    run = make_run()
    doubt = reports.ModelFit(warnings=("One smooth population would seldom give such answers.",))
    assert [need.kind for need in reports.list_alerts(run, doubt)] == ["fit"]


def test_the_overview_shows_runs_that_need_a_decision_first(requester):
    waiting = make_run(recorded_only=True, name="Waits for a file")
    make_run(name="Goes well")
    ended = make_run(name="Is over")
    lifecycle.stop_run(ended)
    page = text_of(requester.get(reverse("admin:index")))
    assert "none are imported yet" in page
    places = [page.index(name) for name in ("Is over", waiting.name, "Goes well")]
    assert places == sorted(places)
    assert "Review Is over" in page


def test_page_and_api_show_alerts(requester, client, token):
    run = make_run(recorded_only=True)
    assert "Action needed: no progress" in text_of(requester.get(admin_url("run_page", run.pk)))
    header = {"Authorization": f"Bearer {token}"}
    document = client.get(f"/api/runs/{run.pk}", headers=header).json()
    assert [need["kind"] for need in document["needs"]] == ["stuck"]
    assert (document["status"], document["state"]) == ("running", "running")
    lifecycle.stop_run(run)
    document = client.get(f"/api/runs/{run.pk}", headers=header).json()
    assert (document["status"], document["state"]) == ("ended", "ready for review")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (40, "40 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "120 minutes"),
        (7200, "2 hours"),
        (200_000, "2 days"),
    ],
)
def test_duration_uses_the_largest_unit_with_at_least_two(seconds, text):
    assert format_duration(timedelta(seconds=seconds)) == text


def test_alert_without_background_work():
    run = make_run()
    engine.advance(run.pk)
    Heartbeat.objects.update(at=timezone.now())
    assert alert_kinds(run, minutes=1) == []
    text = alert_text(run, minutes=3)
    assert "No background work for 3 minutes" in text
    assert "Celery's worker or its clock (beat) is not running" in text
    Heartbeat.objects.update(at=timezone.now() + timedelta(minutes=2))
    assert alert_kinds(run, minutes=3) == []


def test_alert_names_an_unreachable_redis(settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    run = make_run()
    Heartbeat.objects.update(at=timezone.now())
    assert "Redis does not answer" in alert_text(run, minutes=3)
    for enrolling in (False, True):  # at once, without a standstill of minutes
        run.enrolling = enrolling
        (need,) = reports.list_alerts(run)
        assert need.kind == "waits"
        assert need.words.startswith("Redis does not answer. Answers are kept")
