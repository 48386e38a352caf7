"""What a run needs a person to see to, on the overview, its page and the API."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from selection import engine, reports
from selection.models import Assignment, Pulse, Run, Step
from selection.reports.durations import format_duration
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def swept(db):
    """The part that works in the background goes on working, however late we look."""
    Pulse.objects.create(pk=Pulse.SWEEP, at=timezone.now() + timedelta(days=365))


def kinds(run: Run, **later: float) -> list[str]:
    """What it needs so much later."""
    run.refresh_from_db()
    return [need.kind for need in reports.list_alerts(run, now=timezone.now() + timedelta(**later))]


def words(run: Run, **later: float) -> str:
    run.refresh_from_db()
    found = reports.list_alerts(run, now=timezone.now() + timedelta(**later))
    return " ".join(need.words for need in found)


def test_a_run_that_goes_well_needs_nothing():
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    assert kinds(run) == []
    assert kinds(make_run(start=False)) == []


def test_nobody_answers_for_six_hours():
    run = make_run()
    engine.advance(run.pk)
    assert kinds(run, hours=5.9) == []
    run.candidates.filter(worker__key__in=["w0", "w1"]).update(seen=timezone.now())
    said = words(run, hours=6.1)
    assert said == (
        "No answer and no visit for 6 hours; 4 of 6 workers have not opened their link."
    )


def test_nothing_is_out_and_nothing_comes():
    run = make_run()
    assert kinds(run, minutes=9) == []
    assert kinds(run, minutes=11) == ["stuck"]
    engine.advance(run.pk)
    assert kinds(run, minutes=11) == []
    run.candidates.update(asked=0)
    Assignment.objects.all().delete()
    assert kinds(run, minutes=11) == ["stuck"]
    Step.objects.update(at=timezone.now() + timedelta(minutes=5))
    assert kinds(run, minutes=11) == []


def test_answers_made_elsewhere_are_still_to_be_imported():
    run = make_run(recorded_only=True)
    assert kinds(run) == ["stuck"]
    Run.objects.update(has_recorded=True)
    assert kinds(run) == []


def test_gold_is_short_when_a_tenth_of_it_is_left():
    run = make_run(questions=20)
    run.candidates.filter(worker__key="w0").update(asked=17)
    assert kinds(run) == []
    run.candidates.filter(worker__key__in=["w0", "w1"]).update(asked=18)
    assert "nearly used up for 2 of the 6 workers who are undecided" in words(run)
    run.candidates.update(verdict=1)
    assert kinds(run) == []


def test_an_open_roster_that_nobody_joins():
    run = make_run(enrolling=True, k=2)
    assert kinds(run, hours=23) == []
    assert words(run, hours=25) == (
        "The roster is open with 6 workers, and nobody came for 25 hours."
    )
    run.candidates.exclude(worker__key__in=["w0", "w1"]).delete()
    assert "More than 2 are needed" in words(run, hours=25)


def test_a_run_that_is_paused_for_long():
    run = make_run()
    lifecycle.pause_run(run)
    assert kinds(run, hours=23) == []
    assert words(run, hours=72) == (
        "It has been paused for 3 days: nothing goes out until it goes on."
    )


def test_an_ended_run_is_ready_for_review_until_it_is_concluded():
    run = make_run()
    lifecycle.stop_run(run)
    assert kinds(run) == ["review"]
    Run.objects.update(concluded=timezone.now())
    assert kinds(run) == []


def test_what_the_algorithm_doubts_is_among_it():
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
    assert "Ready for review" in page


def test_the_page_and_the_api_say_it_too(requester, client, token):
    run = make_run(recorded_only=True)
    assert "It stands still." in text_of(requester.get(admin_url("run_page", run.pk)))
    header = {"Authorization": f"Bearer {token}"}
    document = client.get(f"/api/runs/{run.pk}", headers=header).json()
    assert [need["kind"] for need in document["needs"]] == ["stuck"]
    assert (document["status"], document["state"]) == ("running", "running")
    lifecycle.stop_run(run)
    document = client.get(f"/api/runs/{run.pk}", headers=header).json()
    assert (document["status"], document["state"]) == ("ended", "ready for review")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (40, "40 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (200_000, "2 days"),
    ],
)
def test_a_span_is_said_in_the_largest_unit_of_which_there_are_two(seconds, said):
    assert format_duration(timedelta(seconds=seconds)) == said


def test_nobody_works_in_the_background():
    run = make_run()
    engine.advance(run.pk)
    Pulse.objects.update(at=timezone.now())
    assert kinds(run, minutes=1) == []
    said = words(run, minutes=3)
    assert "Nothing has worked in the background for 3 minutes" in said
    assert "Celery's worker or its clock (beat) is not running" in said
    Pulse.objects.update(at=timezone.now() + timedelta(minutes=2))
    assert kinds(run, minutes=3) == []


def test_it_says_when_redis_is_what_is_away(settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    run = make_run()
    Pulse.objects.update(at=timezone.now())
    assert "Redis does not answer" in words(run, minutes=3)
    for enrolling in (False, True):  # and at once, not only when all has stood still for minutes
        run.enrolling = enrolling
        (need,) = reports.list_alerts(run)
        assert need.kind == "waits"
        assert need.words.startswith("Redis does not answer. Answers are taken and kept")
