"""The estimate's arrangement: one recommendation by need, our other rules, other methods."""

import pytest

from selection.admin.wizard.forecast_rows import arrange_rows
from selection.algorithms import OUR_RULES
from selection.forecast import Forecast, Plan, forecast_requests, no_shows, parts
from selection.forecast.rows import SimulationLedger
from selection.models import Endpoint, ModelServer, Run
from selection.outbox import celery_messages
from tests.pages import admin_url, text_of
from tests.worlds import make_pool, make_questions

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

BEGIN = admin_url("run_begin")


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)  # until each algorithm has had its turn
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


def row(algorithm: str, variant: str = "", **values: object) -> Forecast:
    title = algorithm.capitalize() + (f", {variant}" if variant else "")
    options = {"accuracy": variant} if variant else {}
    return Forecast(algorithm=algorithm, title=title, options=options, **values)


ROWS = [
    row("credible"),
    row("universal", "on this question set"),
    row("certified", "on this question set"),
    row("clucb-pac"),
    row("universal"),
    row("certified"),
    row("sar", cannot="It needs a budget."),
    row("pair-lucb"),
]


def estimate(requester, **changes: object):
    """Return the page of an estimate over six workers and 30 questions."""
    form = {"pool": make_pool(6).pk, "question_set": make_questions(30).pk, "k": 2}
    form |= {
        "goal": "group",
        "precise": "own",
        "precise_own": "30",
        "sure": "0.2",
        "price": "0.05",
        "currency": "€",
    }
    response = requester.post(BEGIN, form | changes, follow=True)
    assert response.status_code == 200, text_of(response)
    return response


def address_of(page) -> str:
    return f"{page.request['PATH_INFO']}?{page.request['QUERY_STRING']}"


@pytest.mark.parametrize(
    ("need", "best"),
    [("group", "credible"), ("kind", "universal"), ("pool", "certified"), ("exact", "pair-lucb")],
)
def test_the_first_row_that_covers_the_need_is_recommended(need, best):
    assert arrange_rows(ROWS, need).best.algorithm == best


def test_foreign_exact_method_is_recommended_only_if_it_alone_finishes():
    other, ours = row("lil-clucb", feasible=True), row("pair-lucb")
    assert arrange_rows([other, ours], "exact").best == other
    assert arrange_rows([row("lil-clucb"), ours], "exact").best == ours
    assert arrange_rows([other, row("pair-lucb", feasible=True)], "exact").best != other


def test_rules_of_ours_have_one_row_each_and_the_rest_is_below():
    table = arrange_rows(ROWS, "group")
    assert table.rules == [ROWS[1], ROWS[2], ROWS[7]]
    assert table.others == [ROWS[3], ROWS[4], ROWS[5], ROWS[6]]


def test_table_without_a_simulated_row_recommends_no_method():
    assert arrange_rows([ROWS[6]], "group").best is None
    assert arrange_rows([], "group").others == []


@pytest.mark.parametrize(
    ("goal", "algorithm", "need"),
    [
        ("group", "credible", OUR_RULES["credible"]),
        ("kind", "certified", OUR_RULES["certified"]),  # as cheap in a small pool, and stronger
        ("pool", "certified", OUR_RULES["certified"]),
        ("exact", "pair-lucb", OUR_RULES["pair-lucb"]),
    ],
)
def test_the_guided_start_recommends_by_need(requester, goal, algorithm, need):
    page = estimate(requester, goal=goal)
    context = page.context
    ours = {one.row.algorithm for one in context["rules"]}
    assert ours == OUR_RULES.keys() - {algorithm}
    assert context["best"].row.algorithm == algorithm
    assert context["plan"].goal == ("exact" if goal == "exact" else "group")
    shown = text_of(page)
    assert need not in shown  # it stands beside the other rules
    assert all(OUR_RULES[other] in shown for other in OUR_RULES if other != algorithm)


def test_a_draft_is_created_from_the_recommendation_of_the_need(requester):
    page = estimate(requester, goal="pool")
    best = page.context["best"]
    requester.post(address_of(page), {"do": "make", "row": best.key})
    assert Run.objects.get().algorithm == best.row.algorithm == "certified"


def test_a_draft_that_spends_by_price_gets_a_rule_that_can(requester):
    page = estimate(requester, by_price="on")
    best = page.context["best"]
    assert best.row.algorithm == "universal"
    assert "credible" not in {one.row.algorithm for one in page.context["rules"]}
    refused = requester.post(address_of(page), {"do": "make", "row": "credible|"}, follow=True)
    assert "Credible does not spend by price; Universal can." in text_of(refused)
    requester.post(address_of(page), {"do": "make", "row": best.key})
    run = Run.objects.get()
    assert (run.algorithm, run.by_price) == ("universal", True)


def test_models_alone_are_tested_on_this_question_set(requester):
    assert estimate(requester).context["best"].row.options == {}
    pool = make_pool(6)
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    for worker in pool.workers.all():
        Endpoint.objects.create(worker=worker, server=server, model="m")
    Endpoint.objects.update(price_call="0.00003")
    page = estimate(requester, pool=pool.pk)
    best = page.context["best"]
    assert best.cost == f"€{best.row.median * 3e-5:.3g}"
    assert "no model has been called yet" in text_of(page)
    assert "There is no forecast for Same questions" in text_of(page)
    assert best.row.options["accuracy"] == "on this question set"
    possible = [row for row in page.context["rules"] if row.row.options.get("accuracy")]
    assert all(best.row.median <= one.row.median for one in possible)
    requester.post(address_of(page), {"do": "make", "row": best.key})
    assert Run.objects.get().options == {"accuracy": "on this question set"}


def test_published_methods_are_folded_below_our_rules(requester):
    page = estimate(requester)
    shown, _, folded = page.content.decode().partition('id="forecast-others"')
    assert "Universal" in shown
    assert "LUCB++" not in shown
    assert "LUCB++" in folded
    assert f"Other methods ({len(page.context['others'])})" in folded


def test_estimate_tells_the_effect_of_a_fifth_of_workers_never_starting(requester):
    page = estimate(requester, speed=100)
    text = text_of(page)
    assert (
        "If 20% never start Estimated later. The run selects 2 of the 5 remaining workers." in text
    )
    assert "The run may wait up to 48 hours for the no-shows." in text
    job = page.context["job"]
    plan, best = forecast_requests.stored_plan(job), page.context["best"].row
    points = no_shows.points_to_simulate(plan, forecast_requests.forecast_rows(job))
    assert "credible" in [contender.name for _, _, contender in points]
    contender = next(one for *_, one in points if one.name == "credible")
    part = parts.Part(SimulationLedger(contender), no_shows.CURVE, no_shows.SHARE)
    part.simulate(forecast_requests.stored_belief(job))
    job.result.append(part.serialize())
    job.save()
    fewer = forecast_requests.forecast_no_shows(job)[best.algorithm, best.title]
    text = text_of(requester.get(address_of(page)))
    assert f"About {fewer.median} answers, €{fewer.median * 0.05:.2f}" in text
    assert "to select 2 of the 5 remaining workers" in text
    curves = forecast_requests.forecast_curves(job)
    assert curves == {"epsilon": [], "k": []}


def test_estimate_says_if_too_few_workers_would_start(requester):
    page = text_of(estimate(requester, k=5))
    assert "5 workers would remain, too few to select 5." in page


def test_the_plan_without_no_shows_has_a_fifth_fewer_workers():
    plan = Plan(workers=10, k=2, epsilon=0.2, delta=0.1, questions=9, met=((3, 5), (1, 1)))
    fewer = no_shows.plan_of_starting(plan)
    assert (fewer.workers, fewer.met) == (8, ((3, 4), (1, 1)))
    assert no_shows.points_to_simulate(Plan(10, 8, 0.2, 0.1, 9), []) == []
