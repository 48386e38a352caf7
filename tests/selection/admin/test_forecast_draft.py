"""Forecasts on a draft's page and in the form, and the changes that they offer."""

import pytest

from selection.forecast import draft_forecast, forecast_requests
from selection.models import ForecastRequest, Run
from selection.outbox import celery_messages
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import make_models, make_pool, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)  # until each algorithm has had its turn
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


def draft(**fields: object) -> Run:
    settings = {"n": 10, "k": 2, "questions": 20, "epsilon": 0.1, "delta": 0.1} | fields
    return make_run(start=False, **settings)


def order(requester, run: Run) -> str:
    return text_of(requester.post(admin_url("run_expected", run.pk), follow=True))


def press(requester, run: Run, **sent: object) -> str:
    sent = {"do": "change", **sent}
    text = text_of(requester.post(admin_url("run_expected", run.pk), sent, follow=True))
    run.refresh_from_db()
    return text


def ways_of(requester, run: Run) -> dict[str, dict[str, object]]:
    page = requester.get(admin_url("run_page", run.pk))
    return {way.words: way.sends for way in page.context["ways"]}


def test_a_forecast_is_made_on_request_and_kept(requester):
    run = draft(algorithm="credible", price="0.05")
    assert "Estimate cost" in text_of(requester.get(admin_url("run_page", run.pk)))
    assert not ForecastRequest.objects.exists()
    text = order(requester, run)
    answers = draft_forecast.draft_forecast(run).own.median
    assert f"Estimated cost: about €{answers / 20:.2f}, {answers} answers" in text
    assert "too few simulations yet (1)" in text
    assert "finished in 1 of 1 simulation" in text
    assert "80% range" not in text
    assert "Allow" not in text


def test_a_run_that_cannot_end_says_so_with_ways_out_and_may_be_started(requester):
    run = draft(algorithm="lucb")
    text = order(requester, run)
    assert "too few simulations yet (1)" in text
    assert "In 1 of 1 simulation the questions would run out" in text
    assert "Import more questions" in text
    assert "You can start the run anyway" in text
    lifecycle.start_run(run)
    assert Run.objects.get(pk=run.pk).status == "running"


def test_ways_out_change_the_draft_and_are_logged(requester):
    run = draft(algorithm="certified", epsilon=0.15)
    order(requester, run)
    ways = ways_of(requester, run)
    label = {text.partition(":")[0]: sends for text, sends in ways.items()}
    assert "Guarantee it on this question set" in label, ways
    assert "Take Credible" in label, ways
    press(requester, run, **label["Guarantee it on this question set"])
    assert (run.algorithm, run.options) == ("certified", {"accuracy": "on this question set"})
    press(requester, run, **label["Take Credible"])
    assert (run.algorithm, run.options) == ("credible", {})
    assert press(requester, run, epsilon="0.25").count("Done.") == 1
    assert run.epsilon == 0.25
    run.budget = 30
    run.save()
    press(requester, run, budget="none")
    assert run.budget is None
    assert run.events.filter(kind="draft").count() == 4


def test_a_greater_epsilon_is_offered_where_it_would_do(requester):
    run = draft(algorithm="certified", epsilon=0.05)
    order(requester, run)
    least = draft_forecast.draft_forecast(run).own.epsilon_at_end
    assert ways_of(requester, run)[f"Allow ε = {least:g}"] == {"epsilon": least}


def test_the_page_warns_of_a_short_budget_before_the_start(requester):
    run = draft(algorithm="credible", budget=12, epsilon=0.02)
    text = order(requester, run)
    assert "the budget would run out" in text
    assert "Take the budget's limit away" in text


@pytest.mark.parametrize("sent", [{"epsilon": "2"}, {"row": "lil-clucb-x|"}])
def test_invalid_changes_have_no_effect(requester, sent):
    run = draft(algorithm="credible")
    before = (run.algorithm, run.epsilon)
    if "row" in sent:
        sent = {"row": "multi-sar|"}
    assert "Done." not in press(requester, run, **sent)
    assert (run.algorithm, run.epsilon) == before


def test_a_run_that_has_begun_is_not_changed_by_a_stale_page(requester):
    run = draft(algorithm="credible")
    lifecycle.start_run(run)
    assert "has begun" in press(requester, run, epsilon="0.3")
    assert run.epsilon == 0.1


def test_several_skills_are_not_forecast(requester):
    run = draft(algorithm="multi-sar", budget=100)
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "There is no forecast for runs of several skills" in text
    assert "Estimate cost" not in text


def test_the_page_names_factors_left_out_of_the_forecast(requester):
    run = draft(algorithm="credible", enrolling=True, options={"share": 0.5})
    ignored = "The forecast ignores options set by hand and workers that may still join."
    assert ignored in order(requester, run)


def test_a_draft_of_models_says_that_asking_in_parallel_needs_more_calls(requester):
    run = draft(algorithm="credible", slots=12)
    words = "Up to 12 questions are out at once: this needs more calls"
    assert words not in order(requester, run)
    make_models(run.pool)
    assert words in text_of(requester.get(admin_url("run_page", run.pk)))


def test_draft_with_quotas_is_offered_only_applicable_ways(requester):
    quotas = {"attribute": "country", "limits": {"fr": [1, None]}}
    pool = make_pool(10, country=["fr", "it"])
    settings = {"algorithm": "certified", "pool": pool, "quotas": quotas}
    run = draft(**settings)
    text = order(requester, run)
    assert "no guarantee for these settings" not in text
    ways = ways_of(requester, run)
    assert not any("Credible" in words for words in ways)
    for sends in ways.values():
        again = draft(**settings | {"name": f"again {sends}"[:90]})
        order(requester, again)
        assert "The draft is changed." in press(requester, again, **sends)
