"""Algorithms of a run: the choices, the stored options, the refusals."""

import re

import pytest

from selection import algorithms, reports
from selection.admin.wizard.plan_input import FIELDS
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.models import Run
from selection.runs import lifecycle
from selection.runs.settings import algorithm_choices
from tests.pages import admin_url, open_form, run_form, save_run, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play
from topk import SELECTORS

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


NEEDS = algorithms.OUR_RULES.items()


def post(requester, **changes: object):
    """Send a run's form over five workers."""
    form = run_form(make_pool(5), make_questions(5), **changes)
    return save_run(requester, form, follow=True)


# -- offered algorithms


def test_algorithms_belong_to_one_group():
    offered = [name for _, members in algorithms.algorithm_choices() for name, _ in members]
    assert sorted(offered) == sorted(ALGORITHMS)
    assert next(group for group, _ in algorithms.algorithm_choices()) == "Usual"


def test_the_form_lists_our_rules_and_then_other_methods_by_guarantee(requester):
    page = open_form(requester).content.decode()
    for name in SELECTORS:
        assert f'<option value="{name}"' in page
    usual = page.partition('optgroup label="Usual"')[2].partition("</optgroup>")[0]
    assert re.findall('value="(.*?)"', usual) == list(algorithms.USUAL)
    assert 'optgroup label="Other methods: every worker within ε of the K-th best"' in page


def test_form_knows_the_fields_of_an_algorithm():
    needs = algorithm_choices.fields_read_by_algorithm()
    assert needs["lucb"] == ["epsilon", "delta"]
    assert needs["sar"] == ["budget"]
    assert needs["lil-lucb"] == ["delta", "option_parameters"]
    assert needs["ugape-b"] == ["epsilon", "budget", "option_exploration", "option_eta"]
    assert "quota_lines" in needs["clucb-pac"]


# -- stored options


def test_only_options_of_the_algorithm_that_differ_from_defaults_are_stored(requester):
    post(
        requester,
        algorithm="adaptive-top-k",
        option_c_round="0.5",
        option_half="on",
        option_parameters="heuristic",
    )
    assert Run.objects.get().options == {"c_round": 0.5, "half": True}


def test_a_draft_shows_its_options_again(requester):
    post(requester, algorithm="ugape-b", budget=500, option_exploration="3.5")
    run = Run.objects.get()
    page = requester.get(admin_url("run_change", run.pk)).content.decode()
    assert re.search(r'name="option_exploration" value="3.5"', page)
    form = run_form(run.pool, run.question_set, algorithm="ugape-b", budget=500)
    requester.post(admin_url("run_change", run.pk), form)
    run.refresh_from_db()
    assert run.options == {}


# -- refusals


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"algorithm": "lil-ucb"}, "k", "lil'UCB selects one worker, so K must be 1."),
        ({"algorithm": "sar"}, "budget", "SAR needs a budget."),
        ({"algorithm": "sar", "budget": 4}, "budget", "more than one answer per worker"),
        ({"algorithm": "halving", "epsilon": 0}, "epsilon", "Halving needs an epsilon above 0."),
        (
            {"algorithm": "adaptive-top-k", "option_c_round": "-1"},
            "option_c_round",
            "Length of the rounds must be a number above 0 and at most 100.",
        ),
        (
            {"algorithm": "lil-lucb", "option_parameters": "x"},
            "option_parameters",
            "is not an option of the list",
        ),
        ({"algorithm": "x"}, "algorithm", "is not an option of the list"),
    ],
)
def test_impossible_settings_are_refused_at_the_field_to_change(requester, changes, field, why):
    response = post(requester, **changes)
    errors = response.context["form"].errors
    field = FIELDS.get(field, field)
    assert list(errors) == [field]
    assert why in errors[field][0]
    assert text_of(response).count(errors[field][0]) == 2  # in the summary, and at the field
    assert not Run.objects.exists()


def test_start_refuses_settings_the_algorithm_cannot_handle():
    run = make_run(start=False, algorithm="lil-ucb")
    with pytest.raises(Refused, match="selects one worker"):
        lifecycle.start_run(run)


# -- how it ends


def test_a_budget_that_is_spent_ends_a_run_as_planned_and_guarantees_nothing(requester):
    run = play(make_run(algorithm="sar", budget=120), crowd(2, good=2))
    assert (run.ending, run.finished, run.certified) == ("budget", True, False)
    assert reports.read_progress(run).closed == 1
    assert "no guarantee" in reports.guarantee_of_run(run).text
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "The run ended because the budget is spent." in words
    assert "The gap" not in words


def test_a_run_without_a_guarantee_is_never_certified():
    run = make_run(algorithm="lil-lucb", options={"parameters": "heuristic"}, questions=2000)
    play(run, crowd(2, good=2))
    assert run.ended_by_guarantee
    assert not reports.export_run(run)["certified"]
    assert reports.export_run(run)["ending"] == "its rule to stop was met"
    assert reports.export_run(run)["options"] == {"parameters": "heuristic"}


def test_an_exact_run_that_is_stopped_says_it_is_not_exact():
    run = make_run(algorithm="lil-clucb", questions=2000)
    play(run, crowd(2, good=2), most=12)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.guarantee_of_run(run).text.startswith("The target (the certain best) was not")
    assert "ε" not in reports.guarantee_of_run(run).text


# -- meanings of accuracy


def test_form_explains_the_meanings_of_accuracy(requester):
    words = text_of(open_form(requester))
    assert "What accuracy means" in words
    assert "On questions like these : the share of right answers that a worker would give" in words
    assert "On this question set : the share of the questions in the set" in words


@pytest.mark.parametrize("start", [True, False])
def test_the_run_s_page_says_which_accuracy_is_meant(requester, start):
    usual = make_run(algorithm="certified", start=start)
    words = text_of(requester.get(admin_url("run_page", usual.pk)))
    assert "Accuracy on questions like these is the share of right answers" in words
    assert "What accuracy means on questions like these" in words
    chosen = {"accuracy": "on this question set"}
    run = make_run(algorithm="certified", options=chosen, start=start)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Accuracy on this question set is the share of the questions in the set" in words
    assert "says nothing about other questions" in words
    other = make_run(algorithm="lucb", start=start)
    assert "What accuracy means" not in text_of(requester.get(admin_url("run_page", other.pk)))


def test_answers_on_a_question_set_need_not_be_independent():
    run = make_run(algorithm="certified", options={"accuracy": "on this question set"})
    assert "does not depend on when it comes" in reports.export_run(run)["assumptions"]
    usual = make_run(algorithm="certified")
    assert "are independent of each other" in reports.export_run(usual)["assumptions"]
