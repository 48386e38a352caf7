"""A run's view of its own guarantee: doubts, the fitted population, and the present ε."""

import pytest
from django.test import Client

from selection import engine, reports
from selection.models import Run
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import crowd, kept_run, make_run, play
from topk import LIKE_THESE, THIS_SET

pytestmark = pytest.mark.django_db

TWO_GROUPS = crowd(3, good=30, high=0.97, low=0.2)


def odd_run(**fields: object) -> Run:
    """Return a run with two groups of workers, and enough answers of each to reveal them."""
    values = {"n": 60, "k": 45, "algorithm": "credible", "epsilon": 0.001, "slots": 60}
    return play(make_run(**values | fields), TWO_GROUPS, most=16)


def page_text(requester: Client, run: Run) -> str:
    return text_of(requester.get(admin_url("run_page", run.pk)))


# -- doubts and the fitted population


def test_workers_right_on_the_same_questions_cause_a_warning(requester):
    def hard_for_all(assignment):
        return "no" if assignment.question.number % 3 == 0 else "yes"

    for accuracy, warned in ((LIKE_THESE, True), (THIS_SET, False)):
        options = {"accuracy": accuracy}
        run = make_run(algorithm="certified", options=options, n=12, k=3, slots=60, epsilon=0.02)
        play(run, hard_for_all, most=20)
        assert ("on the same questions" in page_text(requester, run)) is warned
        assert (
            any("on the same questions" in x for x in reports.export_run(run)["warnings"]) is warned
        )


def test_a_crowd_of_two_groups_is_warned_of_on_page_export_and_api(requester, token):
    run = odd_run()
    text = page_text(requester, run)
    assert "do not look like one population" in text
    assert "“certified” holds for every pool" in text
    assert "Model fit" in text
    assert "Poor: the workers may not be one crowd" in text
    document = reports.export_run(run)
    assert "do not look like one population" in document["warnings"][0]
    assert document["population"]["p_value"] < 0.05
    assert "do not look like one population" in document["guarantee"]
    response = (
        Client(headers={"authorization": f"Bearer {token}"}).get(f"/api/runs/{run.pk}").json()
    )
    assert response["warnings"] == document["warnings"]
    assert response["population"] == document["population"]
    assert response["epsilon_reached"] == document["epsilon_reached"]


def test_an_ordinary_crowd_is_fitted_without_a_word_of_warning(requester):
    run = play(make_run(n=30, k=5, algorithm="credible", slots=60), crowd(1, 30, high=0.75), most=5)
    text = page_text(requester, run)
    assert "Notes on this crowd" not in text
    assert "Good (p = " in text
    assert 0.6 < reports.model_fit(run).population.mean < 0.85
    assert sum(reports.model_fit(run).population.shares) == pytest.approx(1)


def test_algorithms_without_a_population_show_no_model_fit(requester):
    run = play(make_run(), crowd(1, 2), most=3)
    assert "Model fit" not in page_text(requester, run)
    document = reports.export_run(run)
    assert (document["warnings"], document["population"]) == ([], None)


def test_model_fit_is_empty_before_the_first_answer(requester):
    run = make_run(algorithm="credible")
    assert reports.model_fit(run) == reports.ModelFit()
    text = page_text(requester, run)
    assert "Model fit" not in text
    assert "No guarantee yet: there are too few answers." in text


def test_a_draft_has_no_standings_and_no_fit(token):
    run = make_run(start=False, algorithm="credible")
    api = Client(headers={"authorization": f"Bearer {token}"})
    assert api.get(f"/api/runs/{run.pk}/standings").json() == []
    document = api.get(f"/api/runs/{run.pk}").json()
    assert (document["warnings"], document["population"], document["epsilon_reached"]) == (
        [],
        None,
        None,
    )
    assert api.get(f"/api/runs/{run.pk}/selection").json()["workers"] == []


def test_legend_explains_the_bars(requester):
    assert "95 % credible interval" in page_text(requester, make_run(algorithm="credible"))
    assert "Range Confidence bounds at all times at once" in page_text(
        requester, make_run(algorithm="lucb")
    )
    fixed = make_run(algorithm="sar", budget=100)
    assert "without a guarantee" in page_text(requester, fixed)


def test_the_settings_show_epsilon_and_delta_where_they_are_read(requester):
    text = page_text(requester, make_run(algorithm="credible", epsilon=0.07, delta=0.2))
    assert "Accuracy ε 0.07 Risk δ 0.2" in text
    assert "Risk δ" not in page_text(requester, make_run(algorithm="sar", budget=100))


# -- the present guarantee


def test_certified_run_states_its_guarantee_so_far(requester):
    run = play(
        make_run(algorithm="certified", epsilon=0.01, slots=60, slots_per_worker=30),
        crowd(3, 2, high=0.7, low=0.3),
        most=6,
    )
    pledge = reports.guarantee_of_run(run)
    assert 0.01 < pledge.epsilon < 1
    assert pledge.scope == "every pool"
    text = page_text(requester, run)
    points = f"{100 * pledge.epsilon:.4g}"
    selected = f"the 2 selected are on average at most {points} point"
    assert f"Guaranteed now: With probability at least 90%, {selected}" in text


def test_a_credible_run_says_that_it_is_an_average(requester):
    run = odd_run()
    pledge = reports.guarantee_of_run(run)
    text = page_text(requester, run)
    assert "Apart from this: For at least 90% of pools like this one" in text
    assert "an average over such pools, not a guarantee for every pool" in text
    lifecycle.stop_run(run)
    run.refresh_from_db()
    document = reports.export_run(run)
    assert document["guarantee"].startswith("The guarantee is weakened. These workers do not look")
    missed = "The target (at most 0.1 points) was not reached. For at least 90% of pools like this"
    assert missed in document["guarantee"]
    assert document["scope"] == "average over pools like this one"
    assert document["epsilon_reached"] == pledge.epsilon


def test_certified_run_has_no_guarantee_with_too_few_answers(requester):
    run = make_run(algorithm="certified")
    engine.advance(run.pk)
    assert "No guarantee yet: there are too few answers." in page_text(requester, run)
    lifecycle.stop_run(run)
    document = reports.export_run(Run.objects.get())
    assert (document["epsilon_reached"], document["scope"]) == (None, "")


def test_a_kept_guarantee_is_exported_with_its_epsilon():
    run = kept_run()
    row = reports.export_run(run)
    assert (row["epsilon_reached"], row["scope"]) == (0.3, "every pool")


def test_an_average_that_holds_is_not_called_certified():
    crowd_of_two = crowd(3, good=3, high=0.95, low=0.3)
    run = play(make_run(n=20, k=3, algorithm="credible", slots=40), crowd_of_two)
    row = reports.export_run(run)
    assert run.ending == Run.Ending.GUARANTEE
    assert row["epsilon_reached"] == 0.3
    assert row["scope"] == "average over pools like this one"


@pytest.mark.parametrize("algorithm", ["sar", "uniform"])
def test_a_fixed_budget_never_certifies_anything(requester, algorithm):
    run = play(make_run(algorithm=algorithm, budget=60), crowd(1, 2), most=2)
    assert reports.guarantee_of_run(run).epsilon is None
    assert "so far:" not in page_text(requester, run)
