"""Crowds that the guarantee of `credible` does not cover, and its forecasts."""

import numpy as np
import pytest

from selection import reports
from selection.algorithms import describe_variant, options_of_variant
from selection.forecast import (
    Plan,
    candidates,
    draft_forecast,
    forecast_requests,
)
from selection.models import Assignment, Run
from selection.outbox import celery_messages
from selection.runs.settings import drafts
from tests.pages import admin_url, json_of, run_form, save_run, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db

SENTENCE = "also where the best workers stand apart from the others by a gap of 0.14 or more, the "


LIMIT = "one or a few workers stand out from nearly equal others by a lead close to ε"


def test_form_page_and_files_name_the_pools_that_it_does_not_cover(requester):
    asked = {"algorithm": "credible", "epsilon": 0.2, "delta": 0.1}
    form = run_form(make_pool(10), make_questions(60), **asked)
    save_run(requester, form)
    run = Run.objects.get()
    assert LIMIT in text_of(requester.get(admin_url("run_page", run.pk)))
    requester.post(admin_url("run_verb", run.pk, "start"))
    run.refresh_from_db()
    run = play(run, crowd(1, good=2))
    assert LIMIT in text_of(requester.get(admin_url("run_page", run.pk)))
    assert LIMIT in json_of(requester.get(admin_url("run_export", run.pk, "json")))["guarantee"]


def test_a_forecast_names_the_pools_that_credible_does_not_cover():
    plan = Plan(workers=40, k=8, epsilon=0.08, delta=0.1, questions=200)
    ways = [one for one in candidates.suitable_contenders(plan) if one.name == "credible"]
    assert all(LIMIT in one.guarantee.sentence(plan.problem()) for one in ways)


def test_the_run_page_warns_where_workers_seem_nearly_equal(requester):
    options = {"n": 20, "k": 1, "algorithm": "credible", "epsilon": 0.1, "delta": 0.1}
    run = play(make_run(**options, slots=60, slots_per_worker=10), crowd(1, good=20, high=0.85))
    assert run.ended_by_guarantee
    assert "The workers seem nearly equal" in text_of(requester.get(admin_url("run_page", run.pk)))


def answer_smoothly(assignment: Assignment) -> str:
    """Return the response of worker w<i>, right with probability .95 - .03 i, without a gap."""
    worker = int(assignment.candidate.worker.key[1:])
    rng = np.random.default_rng([9, worker, assignment.question.number])
    return "yes" if rng.random() < 0.95 - 0.03 * worker else "no"


def test_a_usual_run_may_end_with_the_warning_in_its_files():
    options = {"n": 20, "k": 4, "algorithm": "credible", "epsilon": 0.1, "delta": 0.1}
    run = play(make_run(**options, slots=60, slots_per_worker=10), answer_smoothly)
    assert run.ended_by_guarantee
    document = reports.export_run(run)
    assert SENTENCE not in document["guarantee"]
    (said,) = [said for said in document["warnings"] if "stand apart by a gap" in said]
    assert said.endswith("“universal” keeps 10 % there too.")


def test_expected_cost_of_a_draft_is_that_of_its_own_row(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
    settings = {"n": 10, "k": 2, "questions": 20, "epsilon": 0.2, "delta": 0.1, "start": False}
    this_set = {"accuracy": "on this question set"}
    run = make_run(algorithm="certified", options=this_set, **settings)
    draft_forecast.request_draft_forecast(run)
    found = draft_forecast.draft_forecast(run)
    assert (found.own.options, found.rough) == (this_set | {"questions": 20}, "")
    usual = drafts.change_draft(run, {}, "")
    assert (usual.options, draft_forecast.draft_forecast(usual).own.options) == ({}, {})
    assert drafts.change_draft(run, {}, this_set["accuracy"]).options == this_set


@pytest.mark.parametrize("options", [{}, {"accuracy": "on this question set"}])
def test_variants_are_known_by_their_words(options):
    assert options_of_variant(describe_variant(options | {"share": 0.5})) == options
