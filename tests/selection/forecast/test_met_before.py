"""Questions that workers met in another run: forecasts use the remaining ones."""

import numpy as np
import pytest

from selection.errors import Refused
from selection.forecast import (
    Plan,
    candidates,
    draft_forecast,
    forecast_requests,
    running_forecast,
    simulations,
)
from selection.models import Run
from selection.outbox import celery_messages
from selection.runs.roster import eligibility
from tests.pages import admin_url, text_of
from tests.selection.runs.test_eligibility import make_earlier_run, make_second_run, questions_met
from tests.worlds import crowd, play


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 0.2)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


ASKED = {"workers": 6, "k": 2, "epsilon": 0.2, "delta": 0.1, "questions": 40}


def test_plan_has_room_for_the_remaining_questions_of_workers():
    plan = Plan(**ASKED, met=[[30, 2], [50, 1]])
    assert sorted(plan.room()) == [0, 10, 10, 40, 40, 40]
    assert (plan.most_answers, plan.met_by, plan.fewest) == (140, 3, 0)
    assert list(Plan(**ASKED).room()) == [40] * 6
    for wrong in ([(1, 7)], [(0, 1)], [(1, 0)]):
        with pytest.raises(Refused):
            Plan(**ASKED, met=wrong)


def test_no_guarantee_about_a_set_met_in_part():
    whole = {
        candidate.options.get("accuracy")
        for candidate in candidates.suitable_contenders(Plan(**ASKED))
    }
    part = {
        candidate.options.get("accuracy")
        for candidate in candidates.suitable_contenders(Plan(**ASKED, met=[(1, 1)]))
    }
    assert (len(whole), part) == (2, {None})


def test_a_run_that_would_end_runs_out_of_questions_where_most_were_met():
    def played(**changes: object) -> simulations.SimulatedRun:
        plan = Plan(**ASKED | {"epsilon": 0.15, "questions": 300}, **changes)
        contender = candidates.Contender("credible", plan)
        return simulations.simulate_run(contender, np.linspace(0.3, 0.9, 6), 1)

    assert played().ending == "guarantee"
    short = played(met=[(298, 6)])
    assert (short.ending, short.answers) == ("questions", 12)


@pytest.mark.django_db
def test_draft_and_run_account_for_met_questions(requester):
    first = make_earlier_run()
    met = {worker: len(questions) for worker, questions in questions_met(first).items()}
    draft = make_second_run(first, met="skip", start=False)
    plan = draft_forecast.plan_of_draft(draft)
    assert plan.most_answers == 40 * plan.workers - sum(met.values())
    assert plan.met_by == len(met)
    assert plan.fewest == 40 - max(met.values())
    assert (
        draft_forecast.plan_of_draft(make_second_run(first, start=False)).met == ()
    )  # with repeats allowed all questions are left
    left_out = make_second_run(first, met="skip", start=False, left_out=list(met)[3:])
    assert draft_forecast.plan_of_draft(left_out).met_by == 3
    requester.post(admin_url("run_expected", draft.pk))
    assert draft_forecast.draft_forecast(draft) is not None
    page = text_of(requester.get(admin_url("run_page", draft.pk)))
    assert f"{len(met)} workers have seen some of these questions" in page
    assert f"each worker has at least {plan.fewest} questions left" in page


@pytest.mark.django_db
def test_exhausted_questions_are_not_subtracted_twice():
    first = make_earlier_run()
    draft = make_second_run(first, met="skip", start=False)
    before = draft_forecast.plan_of_draft(draft).most_answers
    first.question_set.questions.update(retired=first.created)
    first.question_set.questions.filter(number__gte=20).update(retired=None)
    remaining = set(range(20, 40))
    met = eligibility.questions_met_before(draft)
    forecast_plan = draft_forecast.plan_of_draft(draft)
    assert forecast_plan.questions == 20
    assert forecast_plan.most_answers == sum(
        len(remaining.difference(item[0])) for item in met.values()
    )
    assert forecast_plan.most_answers < before


@pytest.mark.django_db
def test_outlook_excludes_met_questions():
    first = make_earlier_run()
    run = play(make_second_run(first, met="skip", slots=10), crowd(5, good=2), most=1)
    run = Run.objects.get(pk=run.pk)
    room = sum(40 - candidate.skipped for candidate in run.candidates.all())
    assert running_forecast.load_live_run(run).most == room < 240


@pytest.mark.django_db
def test_wizard_counts_workers_with_questions_from_earlier_runs(requester):
    first = make_earlier_run()
    fields = {"pool": first.pool_id, "question_set": first.question_set_id, "k": 2}
    fields |= {"goal": "group", "precise": "0.2", "sure": "0.1", "price": "", "belief": ""}
    page = requester.post(admin_url("run_begin"), fields, follow=True)
    text = text_of(page)
    assert "seen some of these questions in another run" in text
