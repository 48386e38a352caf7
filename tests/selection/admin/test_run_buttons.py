"""A run's buttons: their effects and refusals."""

import pytest

from selection.models import Answer
from selection.questions import corrections
from tests.pages import admin_url, press, text_of
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db


def test_buttons_start_pause_resume_and_stop_a_run(requester):
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


def test_click_raises_the_budget_by_the_cost_of_a_retired_question(requester):
    run = make_run(n=4, k=1, epsilon=0.05, budget=30)
    play(run, crowd(1, good=1), most=2)
    corrections.retire_question(
        Answer.objects.earliest("pk").assignment.question, "ada", "ambiguous"
    )
    play(run, crowd(1, good=1))
    assert run.ending == "budget"
    wasted = run.count_wasted()
    page = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "for nothing" in page
    assert f"Raise the budget to {30 + wasted} answers and continue" in page
    url = admin_url("run_do_change", run.pk)
    page = text_of(requester.post(url, {"do": "make-up"}, follow=True))
    assert f"The budget is {30 + wasted} answers instead of 30 answers" in page
    assert "Raise the budget to" not in page
    run.refresh_from_db()
    assert (run.status, run.budget) == ("running", 30 + wasted)


def test_page_explains_the_refused_start(requester):
    run = make_run(start=False, questions=0)
    assert "is empty: import gold questions first" in press(requester, run, "start")
    assert run.status == "draft"


def test_a_refusal_becomes_a_message(requester):
    run = make_run()
    assert "only a run that is draft can do that" in press(requester, run, "start")


def test_stop_button_asks_for_confirmation(requester):
    run = make_run()
    page = text_of(requester.get(admin_url("run_verb", run.pk, "stop")))
    assert "cannot be resumed" in page
    run.refresh_from_db()
    assert run.status == "running"


def test_buttons_need_a_post_and_a_known_verb(requester):
    run = make_run()
    requester.get(admin_url("run_verb", run.pk, "pause"))
    run.refresh_from_db()
    assert run.status == "running"
    assert requester.post(admin_url("run_verb", run.pk, "explode")).status_code == 404
