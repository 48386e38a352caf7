"""A run's buttons: each does what it says, or says why not."""

import pytest

from tests.pages import admin_url, press, text_of
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


def test_it_starts_pauses_resumes_and_stops(requester):
    run = make_run(start=False)
    for verb, status in [
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("stop", "ended"),
    ]:
        press(requester, run, verb)
        assert run.status == status
    assert run.ending == "stopped"


def test_it_says_why_a_run_cannot_start(requester):
    run = make_run(start=False, questions=0)
    assert "is empty: import gold questions first" in press(requester, run, "start")
    assert run.status == "draft"


def test_a_refusal_becomes_a_message(requester):
    run = make_run()
    assert "only a run that is draft can do that" in press(requester, run, "start")


def test_it_asks_before_it_stops(requester):
    run = make_run()
    page = text_of(requester.get(admin_url("run_verb", run.pk, "stop")))
    assert "for good?" in page
    run.refresh_from_db()
    assert run.status == "running"


def test_buttons_need_a_post_and_a_known_verb(requester):
    run = make_run()
    requester.get(admin_url("run_verb", run.pk, "pause"))
    run.refresh_from_db()
    assert run.status == "running"
    assert requester.post(admin_url("run_verb", run.pk, "explode")).status_code == 404
