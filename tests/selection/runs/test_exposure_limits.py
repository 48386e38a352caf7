"""Limits on how many workers meet a gold question: the form, the page, refusals and forecasts."""

import pytest
from django.test import Client

from selection import engine, reports
from selection.errors import Refused
from selection.forecast import Forecast, draft_forecast, forecast_requests, running_forecast
from selection.models import QuestionSet, Run, exposure
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play
from topk import THIS_SET

pytestmark = pytest.mark.django_db

ABOUT_THIS = {"algorithm": "certified", "options": {"accuracy": THIS_SET}}


def limit(question_set: QuestionSet, most: int | None) -> QuestionSet:
    question_set.most_workers = most
    question_set.save()
    return question_set


def page(requester: Client, asked: QuestionSet) -> str:
    return text_of(requester.get(admin_url("questionset_change", asked.pk)))


def test_the_limit_is_set_on_the_question_set_s_page(requester):
    asked = make_questions(5)
    url = admin_url("questionset_change", asked.pk)
    requester.post(url, {"name": asked.name, "instructions": "", "most_workers": "7"})
    asked.refresh_from_db()
    assert asked.most_workers == 7
    requester.post(url, {"name": asked.name, "instructions": "", "most_workers": ""})
    asked.refresh_from_db()
    assert asked.most_workers is None
    response = requester.post(url, {"name": asked.name, "instructions": "", "most_workers": "0"})
    assert "Enter 1 or more" in text_of(response)


def test_the_page_says_how_often_each_question_was_met(requester):
    asked = make_questions(6)
    assert "No worker has seen a question yet." in page(requester, asked)
    play(make_run(n=5, k=1, question_set=asked, slots_per_worker=6, slots=100), crowd(1, 2))
    assert "There is no limit." in page(requester, asked)
    limit(asked, 6)
    words = page(requester, asked)
    assert "No question is used up" in words
    assert [line.workers for line in reports.count_exposure(asked).lines] == [5] * 6
    limit(asked, 5)
    assert "6 of 6 are used up and no longer asked" in page(requester, asked)
    assert "used up" in page(requester, asked)


def test_a_question_that_is_nearly_used_up_is_named(requester):
    asked = limit(make_questions(3), 20)
    run = make_run(n=18, k=1, question_set=asked, slots_per_worker=3, slots=54)
    engine.advance(run.pk)
    words = page(requester, asked)
    assert "No question is used up, 3 nearly." in words
    assert "nearly used up" in words


def test_a_guarantee_about_this_question_set_and_a_limit_exclude_each_other(requester):
    asked = limit(make_questions(20), 5)
    draft = make_run(question_set=asked, start=False, **ABOUT_THIS)
    with pytest.raises(Refused, match="is about all its questions"):
        lifecycle.start_run(draft)
    assert "is about all its questions" in text_of(requester.get(admin_url("run_page", draft.pk)))
    limit(asked, None)
    lifecycle.start_run(draft)
    url = admin_url("questionset_change", asked.pk)
    sent = {"name": asked.name, "instructions": "", "most_workers": "5"}
    assert f"The guarantee of the run “{draft}” needs all questions" in text_of(
        requester.post(url, sent)
    )
    asked.refresh_from_db()
    assert asked.most_workers is None


def test_a_run_on_gold_that_is_used_up_is_refused():
    asked = limit(make_questions(4), 2)
    play(make_run(n=4, k=1, question_set=asked), crowd(1, 2))
    with pytest.raises(Refused, match=r"Every question of .* was met by 2 workers"):
        make_run(question_set=asked)


def rows_of(draft: Run) -> list[Forecast]:
    return forecast_requests.forecast_rows(draft_forecast.request_draft_forecast(draft))


def test_forecasts_count_the_remaining_exposures():
    asked, pool = limit(make_questions(30), 4), make_pool(6)
    draft = make_run(pool=pool, question_set=asked, start=False, algorithm="credible")
    assert (
        draft_forecast.plan_of_draft(draft).questions,
        draft_forecast.plan_of_draft(draft).left,
    ) == (30, 120)
    play(make_run(n=4, k=1, question_set=asked, slots_per_worker=5, slots=20), crowd(1, 2), most=1)
    gone = sum(exposure.count_met([asked.pk]).values())
    assert gone >= 20
    assert draft_forecast.plan_of_draft(draft).left == 120 - gone
    assert draft_forecast.plan_of_draft(draft).most_answers == 120 - gone
    assert [row.options for row in rows_of(draft) if row.options.get("accuracy")] == []


def test_a_forecast_says_that_questions_run_out_where_few_are_left():
    asked = limit(make_questions(100), 1)
    draft = make_run(n=30, question_set=asked, start=False, algorithm="credible", epsilon=0.05)
    own = next(row for row in rows_of(draft) if row.algorithm == "credible")
    assert own.median <= 100
    assert not own.feasible
    assert own.out_of_questions > 0.9


def test_outlook_counts_the_remaining_exposures():
    asked = limit(make_questions(40), 3)
    run = make_run(n=8, k=2, question_set=asked, algorithm="credible", epsilon=0.01, slots=40)
    play(run, crowd(1, 2), most=3)
    assert running_forecast.load_live_run(run).most <= 120
    assert running_forecast.make_forecast(run).high <= 120


def test_gold_that_is_short_by_a_limit_asks_for_attention():
    asked = limit(make_questions(40), 3)
    run = make_run(n=8, k=2, question_set=asked, epsilon=0.01, slots=60)
    engine.advance(run.pk)
    assert "gold" not in [need.kind for need in reports.list_alerts(run)]
    told = []
    while run.status == Run.Status.RUNNING:
        told = [need.kind for need in reports.list_alerts(run)]
        play(run, crowd(1, 2, high=0.7, low=0.7), most=1)
    assert "gold" in told
