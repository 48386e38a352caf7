"""Forecasts of running runs: the remaining answers, money and time."""

import re
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from selection import engine, reports
from selection.forecast import running_forecast
from selection.forecast.fitted import FittedBelief
from selection.models import Run, RunForecast
from selection.outbox import celery_messages
from selection.questions import corrections
from selection.reports import forecast_running
from tests import worlds

pytestmark = pytest.mark.django_db
CROWD = worlds.crowd(3, 4, 0.95, 0.5)
RANGE = re.compile(r"\d+ – \d+ answers")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    monkeypatch.setattr(running_forecast, "RUNS", 20)
    monkeypatch.setattr(running_forecast, "SECONDS", 1000.0)


def begin_run(rounds=3, **fields):
    """Return a run in its middle."""
    settings = {"k": 3, "algorithm": "credible", "epsilon": 0.05, "slots": 20, "price": "0.05"}
    run = worlds.make_run(**({"n": 10, "questions": 60} | settings | fields))
    for _ in range(rounds):
        engine.advance(run.pk)
        worlds.answer_all(run, CROWD)
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def test_forecast_of_remaining_answers_and_money():
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    forecast = reports.forecast_remaining(run)
    low, median, high = forecast.answers
    assert 0 < low <= median <= high <= 600
    assert forecast.cost == pytest.approx([0.05 * number for number in forecast.answers])
    assert forecast.paid + forecast.committed == reports.read_progress(run).spent
    assert forecast.everybody.answers == 10 * forecast.everybody.questions
    assert 0 <= forecast.everybody.epsilon < 0.5


def test_paid_answers_equal_the_payment_list():
    """Lapsed answers are not paid and not counted; answers to a question retired since are."""
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    before, handed_out = reports.forecast_remaining(run), reports.read_progress(run).spent
    late = run.answers.filter(assignment__candidate__arm=0)
    lapsed = late.update(expired=True, right=False, response="")
    corrections.retire_question(late[0].assignment.question, "ada", "a misprint")
    forecast = reports.forecast_remaining(Run.objects.get(pk=run.pk))
    assert forecast.paid == run.answers.filter(expired=False).exclude(response="").count()
    assert forecast.paid == before.paid - lapsed == handed_out - before.committed - lapsed
    assert forecast.paid_cost == pytest.approx(0.05 * forecast.paid)


def test_final_cost_is_near_the_forecast():
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    forecast = RunForecast.objects.get(run=run)
    ended = worlds.play(run, CROWD)
    assert ended.ended_by_guarantee
    assert forecast.low / 3 < reports.read_progress(ended).counted < 3 * forecast.high


def test_forecast_is_too_early_before_workers_have_answered():
    run = begin_run(rounds=0)
    assert reports.forecast_remaining(run).why == forecast_running.UNSEEN
    running_forecast.refresh_forecast(run.pk)
    assert "half of the workers" in reports.forecast_remaining(run).why
    assert (
        reports.summarise_forecast(run, RunForecast.objects.get(run=run), 0) == "too early to say"
    )


def test_forecast_is_too_early_while_workers_may_join():
    run = begin_run(enrolling=True)
    assert "roster is closed" in running_forecast.make_forecast(run).why


@pytest.mark.slow
def test_too_few_questions_give_the_reachable_epsilon():
    run = begin_run(algorithm="certified", epsilon=0.02)
    forecast = running_forecast.make_forecast(run)
    assert forecast.finished == 0
    assert forecast.epsilon_at_end > 0.02
    assert forecast.high <= 600


def test_budget_algorithm_takes_exactly_its_budget():
    forecast = running_forecast.make_forecast(begin_run(algorithm="sar", budget=200))
    assert (forecast.low, forecast.median, forecast.high) == (200, 200, 200)
    assert forecast.runs == 0
    assert (forecast.accuracy, forecast.mean_at_least, forecast.passing) == (None, None, None)


def test_outlook_is_refreshed_only_after_steps_and_a_pause():
    run = begin_run()
    assert running_forecast.due_forecasts() == [run.pk]
    running_forecast.refresh_forecast(run.pk)
    assert running_forecast.due_forecasts() == []
    RunForecast.objects.update(step=0)
    assert running_forecast.due_forecasts() == []
    RunForecast.objects.update(at=timezone.now() - timedelta(hours=1))
    assert running_forecast.due_forecasts() == [run.pk]


def test_oldest_outlooks_come_first():
    runs = [begin_run(rounds=0) for _ in range(running_forecast.AT_ONCE + 1)]
    RunForecast.objects.create(run=runs[0], at=timezone.now() - timedelta(days=1))
    assert running_forecast.due_forecasts() == [run.pk for run in runs[1:]]


def test_a_run_that_ended_has_nothing_ahead():
    run = begin_run()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.ENDED)
    run.refresh_from_db()
    assert reports.forecast_remaining(run) is None
    running_forecast.refresh_forecast(run.pk)
    assert not RunForecast.objects.exists()


def test_few_answers_give_no_speed():
    run = begin_run(rounds=3)
    running_forecast.refresh_forecast(run.pk)
    late = timezone.now() + timedelta(days=3)
    assert reports.forecast_remaining(run, at=late).hours is None
    soon = timezone.now() + timedelta(minutes=30)
    assert reports.forecast_remaining(run, at=soon).hours > 0


def test_crowds_are_drawn_given_the_answers():
    pulls, rewards = np.array([50, 50, 0, 50]), np.array([48.0, 10.0, 0.0, 30.0])
    fitted = FittedBelief.fit(pulls, rewards, np.zeros(4, int), {0: 1})
    drawn = np.array([fitted.draw(np.random.default_rng(i)) for i in range(200)])
    assert drawn[:, 0].mean() > 0.85
    assert drawn[:, 1].mean() < 0.35
    assert drawn[:, 2].std() > 2 * drawn[:, 0].std()


def test_page_list_and_api_show_the_forecast(requester, client, token):
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "Estimated remaining" in page
    assert "Spent so far" in page
    assert "For comparison: testing all workers on" in page
    assert " of 20 simulations from its current state" in page
    low, _, high = RunForecast.objects.values_list("low", "median", "high").get()
    counted = reports.read_progress(run).counted
    assert RANGE.search(page).group() == f"{low - counted} – {high - counted} answers"
    listed = requester.get("/admin/selection/run/").content.decode()
    assert f"{low - counted} – {high - counted} answers" in listed
    headers = {"authorization": f"Bearer {token}"}
    forecast = client.get(f"/api/runs/{run.pk}", headers=headers).json()["forecast"]
    assert forecast["answers"] == list(reports.forecast_remaining(run).answers)
    assert forecast["everybody"]["questions"] > 0
    assert 0.3 < forecast["mean_at_least"] < forecast["accuracy"] < 1
    assert forecast["passing"] is None
    assert f"The selected would be {forecast['accuracy']:.0%} right on average" in page


def test_workers_who_never_answer_do_not_delay_the_forecast():
    """Each worker has one open question: those that answer wait for six that never do."""
    run = begin_run(rounds=0, n=30, algorithm="kl-racing", epsilon=0.1, slots=60)
    worlds.answer_all(run, lambda number: CROWD(number) if number.candidate.arm >= 6 else None)
    engine.advance(run.pk)
    assert run.candidates.filter(pulls__gt=0).count() == 24
    forecast = running_forecast.make_forecast(Run.objects.get(pk=run.pk))
    assert (forecast.why, forecast.runs) == ("", 20)


def test_empty_outlook_is_refreshed_after_a_step():
    run = begin_run(rounds=0)
    running_forecast.refresh_forecast(run.pk)
    assert RunForecast.objects.get(run=run).why
    worlds.answer_all(run, CROWD)
    engine.advance(run.pk)
    run.refresh_from_db()
    assert reports.forecast_remaining(run).why == forecast_running.UNSEEN
    assert running_forecast.due_forecasts() == [run.pk]
    running_forecast.refresh_forecast(run.pk)
    assert not RunForecast.objects.get(run=run).why


def test_few_simulations_give_a_median_and_no_band(requester, client, token, monkeypatch):
    monkeypatch.setattr(running_forecast, "RUNS", 7)
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    forecast = reports.forecast_remaining(run)
    assert (forecast.answers, forecast.cost, forecast.hours) == (None, None, None)
    assert forecast.median > 0
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "Too few simulations yet for a range (7)." in page
    assert not RANGE.search(page)
    listed = requester.get("/admin/selection/run/").content.decode()
    assert f"about {forecast.median} answers" in listed
    assert "(7 simulations)" in listed
    headers = {"authorization": f"Bearer {token}"}
    sent = client.get(f"/api/runs/{run.pk}", headers=headers).json()["forecast"]
    assert (sent["answers"], sent["median"], sent["runs"]) == (None, forecast.median, 7)


def test_time_is_not_up_before_there_are_runs_enough_for_a_band():
    run = begin_run()
    assert running_forecast.make_forecast(run, seconds=0.0).runs == 20


def test_run_has_one_message_on_its_way(monkeypatch):
    run, sent = begin_run(), []
    monkeypatch.setattr(
        celery_messages.current_app,
        "send_task",
        lambda name, args, **how: sent.append((*args, how["priority"])),
    )
    for _ in range(3):
        running_forecast.sweep_run_forecasts()
    assert sent == [(run.pk, celery_messages.BACKGROUND)]
    running_forecast.refresh_forecast(run.pk)
    RunForecast.objects.update(at=timezone.now() - timedelta(hours=1), step=0)
    running_forecast.sweep_run_forecasts()
    assert len(sent) == 2


def test_run_that_outlived_its_forecast_is_estimated_anew(requester):
    run = begin_run()
    running_forecast.refresh_forecast(run.pk)
    closed = reports.read_progress(run).counted
    RunForecast.objects.update(low=closed - 3, median=closed - 2, high=closed - 1)
    assert reports.forecast_remaining(run).why == forecast_running.UNSEEN
    forecast = RunForecast.objects.get(run=run)
    assert reports.summarise_forecast(run, forecast, closed) == "too early to say"
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "Estimating" in page
    assert "about 0" not in page
