"""What a run that is going on will still take."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from selection import engine, reports
from selection.forecast import running_forecast
from selection.forecast.fitted import FittedBelief
from selection.models import Outlook, Run
from selection.questions import corrections
from selection.reports import forecast_running
from tests import worlds

pytestmark = pytest.mark.django_db
CROWD = worlds.crowd(3, 4, 0.95, 0.5)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    monkeypatch.setattr(running_forecast, "RUNS", 20)
    monkeypatch.setattr(running_forecast, "SECONDS", 1000.0)


def begun(rounds=3, **fields):
    """A run in its middle."""
    wanted = {"k": 3, "algorithm": "credible", "epsilon": 0.05, "slots": 20, "price": "0.05"}
    run = worlds.make_run(**({"n": 10, "questions": 60} | wanted | fields))
    for _ in range(rounds):
        engine.advance(run.pk)
        worlds.answer_all(run, CROWD)
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def test_it_says_what_is_still_to_come_in_answers_and_money():
    run = begun()
    running_forecast.refresh_outlook(run.pk)
    found = reports.forecast_remaining(run)
    low, median, high = found.answers
    assert 0 < low <= median <= high <= 600
    assert found.cost == pytest.approx([0.05 * one for one in found.answers])
    assert found.total == tuple(one + found.paid for one in found.answers)
    assert found.paid + found.committed == reports.read_progress(run).spent
    assert found.everybody.answers == 10 * found.everybody.questions
    assert 0 <= found.everybody.epsilon < 0.5


def test_what_was_given_so_far_is_what_the_payment_list_has():
    """Not what lapsed, which nobody is paid for; but answers to a question that was retired."""
    run = begun()
    running_forecast.refresh_outlook(run.pk)
    before, handed_out = reports.forecast_remaining(run), reports.read_progress(run).spent
    late = run.answers.filter(assignment__candidate__arm=0)
    lapsed = late.update(expired=True, right=False, response="")
    corrections.retire_question(late[0].assignment.question, "ada", "a misprint")
    given = reports.forecast_remaining(Run.objects.get(pk=run.pk))
    assert given.paid == run.answers.filter(expired=False).exclude(response="").count()
    assert given.paid == before.paid - lapsed == handed_out - before.committed - lapsed
    assert given.paid_cost == pytest.approx(0.05 * given.paid)


def test_the_end_of_the_run_is_not_far_from_what_was_foreseen():
    run = begun()
    running_forecast.refresh_outlook(run.pk)
    made = Outlook.objects.get(run=run)
    ended = worlds.play(run, CROWD)
    assert ended.ended_by_guarantee
    assert made.low / 3 < reports.read_progress(ended).counted < 3 * made.high


def test_before_there_is_an_answer_for_each_it_is_too_early_to_say():
    run = begun(rounds=0)
    assert "Too early to say" in reports.forecast_remaining(run).why
    running_forecast.refresh_outlook(run.pk)
    assert "fewer than half of the workers" in reports.forecast_remaining(run).why
    assert reports.summarise_forecast(run, Outlook.objects.get(run=run), 0) == "too early to say"


def test_while_workers_may_join_it_is_too_early_to_say():
    run = begun(enrolling=True)
    assert "roster is open" in running_forecast.make_outlook(run).why


def test_where_the_questions_will_not_do_it_says_what_will_be_promised():
    run = begun(algorithm="certified", epsilon=0.02)
    made = running_forecast.make_outlook(run)
    assert made.kept == 0
    assert made.epsilon > 0.02
    assert made.high <= 600


def test_an_algorithm_that_spends_its_budget_takes_just_that():
    made = running_forecast.make_outlook(begun(algorithm="sar", budget=200))
    assert (made.low, made.median, made.high) == (200, 200, 200)
    assert made.runs == 0


def test_it_is_made_again_only_when_the_run_moved_and_not_too_often():
    run = begun()
    assert running_forecast.due_outlooks() == [run.pk]
    running_forecast.refresh_outlook(run.pk)
    assert running_forecast.due_outlooks() == []
    Outlook.objects.update(step=0)
    assert running_forecast.due_outlooks() == []
    Outlook.objects.update(at=timezone.now() - timedelta(hours=1))
    assert running_forecast.due_outlooks() == [run.pk]


def test_of_many_runs_the_oldest_come_first_and_never_all_at_once():
    runs = [begun(rounds=0) for _ in range(running_forecast.AT_ONCE + 1)]
    Outlook.objects.create(run=runs[0], at=timezone.now() - timedelta(days=1))
    assert running_forecast.due_outlooks() == [run.pk for run in runs[1:]]


def test_a_run_that_ended_has_nothing_ahead():
    run = begun()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.ENDED)
    run.refresh_from_db()
    assert reports.forecast_remaining(run) is None
    running_forecast.refresh_outlook(run.pk)
    assert not Outlook.objects.exists()


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (timedelta(minutes=9), "Less than ten minutes"),
        (timedelta(hours=14), "Less than a day"),
        (timedelta(days=90), "More than five weeks"),
    ],
)
def test_time_is_said_as_an_upper_bound(span, said):
    assert forecast_running.describe_bound(span).startswith(said)


def test_with_few_answers_there_is_no_speed():
    run = begun(rounds=3)
    running_forecast.refresh_outlook(run.pk)
    late = timezone.now() + timedelta(days=3)
    assert reports.forecast_remaining(run, at=late).time == "How long it takes is too early to say."
    soon = timezone.now() + timedelta(minutes=30)
    assert "left at the present speed" in reports.forecast_remaining(run, at=soon).time


def test_crowds_are_drawn_given_the_answers():
    pulls, rewards = np.array([50, 50, 0, 50]), np.array([48.0, 10.0, 0.0, 30.0])
    fitted = FittedBelief.of(pulls, rewards, np.zeros(4, int), {0: 1})
    drawn = np.array([fitted.draw(np.random.default_rng(i)) for i in range(200)])
    assert drawn[:, 0].mean() > 0.85
    assert drawn[:, 1].mean() < 0.35
    assert drawn[:, 2].std() > 2 * drawn[:, 0].std()


def test_page_list_and_api_say_it(requester, client, token):
    run = begun()
    running_forecast.refresh_outlook(run.pk)
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "Still to come" in page
    assert "given so far" in page
    assert "Asking everybody" in page
    assert " of 20 simulations, played on from where it stood" in page
    low, _, high = Outlook.objects.values_list("low", "median", "high").get()
    counted = reports.read_progress(run).counted
    listed = requester.get("/admin/selection/run/").content.decode()
    assert f"{low - counted} – {high - counted} answers" in listed
    headers = {"authorization": f"Bearer {token}"}
    told = client.get(f"/api/runs/{run.pk}", headers=headers).json()["forecast"]
    assert told["answers"] == list(reports.forecast_remaining(run).answers)
    assert told["everybody"]["questions"] > 0


def test_workers_who_never_answer_do_not_hold_up_the_forecast():
    """One question is out with each: those who answer wait for six who never do."""
    run = begun(rounds=0, n=30, algorithm="kl-racing", epsilon=0.1, slots=60)
    worlds.answer_all(run, lambda one: CROWD(one) if one.candidate.arm >= 6 else None)
    engine.advance(run.pk)
    assert run.candidates.filter(pulls__gt=0).count() == 24
    made = running_forecast.make_outlook(Run.objects.get(pk=run.pk))
    assert (made.why, made.runs) == ("", 20)


def test_one_that_said_nothing_is_made_again_as_soon_as_the_run_moved():
    run = begun(rounds=0)
    running_forecast.refresh_outlook(run.pk)
    assert Outlook.objects.get(run=run).why
    worlds.answer_all(run, CROWD)
    engine.advance(run.pk)
    run.refresh_from_db()
    assert "it is simulated within" in reports.forecast_remaining(run).why
    assert running_forecast.due_outlooks() == [run.pk]
    running_forecast.refresh_outlook(run.pk)
    assert not Outlook.objects.get(run=run).why


def test_few_simulations_give_a_median_and_no_band(requester, client, token, monkeypatch):
    monkeypatch.setattr(running_forecast, "RUNS", 7)
    run = begun()
    running_forecast.refresh_outlook(run.pk)
    told = reports.forecast_remaining(run)
    assert (told.answers, told.cost, told.total, told.hours) == (None, None, None, None)
    assert told.median > 0
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "Too few simulations yet for a range (7)." in page
    assert "in four cases of five" not in page
    listed = requester.get("/admin/selection/run/").content.decode()
    assert f"about {told.median} answers" in listed
    assert "(7 simulations)" in listed
    headers = {"authorization": f"Bearer {token}"}
    sent = client.get(f"/api/runs/{run.pk}", headers=headers).json()["forecast"]
    assert (sent["answers"], sent["median"], sent["runs"]) == (None, told.median, 7)


def test_time_is_not_up_before_there_are_runs_enough_for_a_band():
    run = begun()
    assert running_forecast.make_outlook(run, seconds=0.0).runs == 20
