"""The guided start: a question in her words, what it costs, and a draft made of a row."""

from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest

from selection import engine
from selection.forecast import DefaultBelief, PastBelief, RangeBelief, forecast_requests
from selection.models import Planning, Pool, Run
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.pasts import write_past
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

BEGIN = admin_url("run_begin")


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 0.2)
    monkeypatch.setattr(forecast_requests.current_app, "send_task", lambda *args, **options: None)


@pytest.fixture
def asked() -> dict[str, object]:
    """What a browser sends of the form as it is first shown, filled in where it must be."""
    return {
        "pool": make_pool(8).pk,
        "question_set": make_questions(40).pk,
        "k": 2,
        "goal": "group",
        "precise": "0.2",
        "sure": "0.1",
        "price": "0.05",
        "currency": "€",
        "belief": "",
    }


def ask(requester, asked, **changes):
    return requester.post(BEGIN, asked | changes)


def ordered(requester, asked, **changes) -> tuple[Planning, str]:
    """The forecast and the address of its page."""
    response = ask(requester, asked, **changes)
    assert response.status_code == 302, text_of(response)
    return Planning.objects.order_by("pk").last(), response["Location"]


def point(at: float, answers: list[int] | None, **other: object) -> dict[str, object]:
    """A point of a curve, as ``orders.curves`` gives them."""
    known = {"median": answers[1] if answers else None, "runs": 40, "feasible": True}
    return {"at": at, "answers": answers, "title": "Credible"} | known | other


def make(requester, page: str, row: str) -> Run:
    requester.post(page, {"do": "make", "row": row})
    return Run.objects.order_by("pk").last()


def test_adding_a_run_begins_here_and_the_whole_form_is_one_click_away(requester):
    begun = requester.get(admin_url("run_add"), follow=True)
    assert begun.request["PATH_INFO"] == BEGIN
    assert admin_url("run_add") + "?full=1" in begun.content.decode()
    whole = requester.get(admin_url("run_add"), {"full": 1})
    assert BEGIN in whole.content.decode()


def test_it_recommends_one_algorithm_with_what_it_costs_and_why(requester, asked):
    planning, page = ordered(requester, asked)
    words = text_of(requester.get(page))
    best = forecast_requests.forecast_rows(planning)[0]
    assert f"{best.title} recommended {best.promise}" in words
    assert "The cheapest that guarantees what matters: finished in" in words
    cost = f"{best.median * Decimal('0.05'):.2f} €"
    assert f"{best.median} too few simulations yet ({best.runs}) {cost}" in words
    assert f"Too few simulations yet ({best.runs}): finished in" in words


def test_from_20_simulations_on_it_shows_the_band_and_how_many_finished(requester, asked):
    planning, page = ordered(requester, asked)
    part = planning.parts.get(algorithm="credible", options={}, curve="")
    plays = [[answers, 10, "promise", 0.2, 0.0] for answers in range(60, 90)]
    planning.parts.filter(pk=part.pk).update(plays=plays, runs=30)
    words = text_of(requester.get(page))
    low, median, high = forecast_requests.forecast_rows(planning)[0].answers
    assert f"{median} {low} to {high} {median * Decimal('0.05'):.2f} €" in words
    assert "Finished in 30 of 30 simulations; no worker was asked more than 10 of 40." in words


def test_a_budget_above_all_questions_shows_a_row_for_each_algorithm(requester, asked, monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)
    planning, page = ordered(requester, asked, spend="100")
    forecast_requests.work_on_part(planning.parts.get(algorithm="uniform").pk, 1)
    words = text_of(requester.get(page))
    assert "It cannot spend the budget of 2,000 answers" in words
    assert "credible" in [row.algorithm for row in forecast_requests.forecast_rows(planning)]
    assert not planning.error


def test_an_algorithm_that_cannot_be_simulated_is_named_with_the_reason(requester, asked):
    planning, page = ordered(requester, asked, spend="0.3")
    words = text_of(requester.get(page))
    reasons = [
        row.cannot for row in forecast_requests.forecast_rows(planning) if row.algorithm == "csar"
    ]
    assert "needs a budget" in reasons[0]
    assert reasons[0] in words


@pytest.mark.parametrize("learns", [True, False])
def test_a_run_is_made_with_all_that_was_given(requester, asked, learns, monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)  # until each algorithm has had its turn
    earlier = make_run(n=30, k=5, algorithm="credible", slots=60, epsilon=0.05)
    engine.advance(earlier.pk)
    answer_all(earlier, crowd(2, 30, high=0.75))
    engine.advance(earlier.pk)
    lifecycle.stop_run(earlier)
    earlier.question_set.questions.update(prompt="Another?")  # else these workers met them
    algorithm = "credible" if learns else "certified"
    accuracy = "" if learns else "on this question set"
    more = {"belief": "run", "run": earlier.pk, "spend": "20", "currency": "USD"}
    planning, page = ordered(requester, asked, **more)
    run = make(requester, page, f"{algorithm}|{accuracy}")
    assert (run.status, run.algorithm, run.name) == ("draft", algorithm, f"Best 2 of {run.pool}")
    assert (run.k, run.epsilon, run.delta, run.budget) == (2, 0.2, 0.1, 400)
    assert (run.price, run.currency) == (Decimal("0.05"), "USD")
    assert run.options.get("accuracy", "") == accuracy
    assert ("prior" in run.options) is learns
    assert run.belief == planning.belief
    lifecycle.start_run(run)


def test_two_runs_of_the_same_question_have_two_names(requester, asked):
    _, page = ordered(requester, asked)
    names = [make(requester, page, "credible|").name for _ in range(2)]
    assert names[1] == f"{names[0]}, 2"


def test_the_question_is_changed_with_everything_kept(requester, asked):
    _, page = ordered(
        requester, asked, belief="range", low="55", high="90", sure="own", sure_own=97
    )
    html = requester.get(page).content.decode()
    query = urlsplit(page).query
    assert f"{BEGIN}?{query}&forecast=".replace("&", "&amp;") in html
    again = requester.get(f"{BEGIN}?{query}").context["form"]
    shown = {name: str(again[name].value()) for name in again.fields if again[name].value()}
    assert {
        name: str(value) for name, value in asked.items() if value and name != "sure"
    }.items() < (shown.items())
    assert (shown["low"], shown["high"], shown["sure"], shown["sure_own"]) == (
        ("55", "90", "own", "97")
    )


@pytest.mark.parametrize(
    ("given", "belief"),
    [
        ({}, DefaultBelief()),
        ({"belief": "0.5-0.95"}, RangeBelief(0.5, 0.95)),
        ({"belief": "range", "low": "60", "high": "90"}, RangeBelief(0.6, 0.9)),
    ],
)
def test_what_is_believed_is_what_is_simulated(requester, asked, given, belief):
    planning, _ = ordered(requester, asked, **given)
    assert forecast_requests.stored_belief(planning) == belief


def test_past_answers_are_learned_from_and_kept_when_the_question_changes(
    requester, asked, tmp_path
):
    answers, gold = write_past(tmp_path, [0.9, 0.6, 0.7], 20)
    with answers.open("rb") as one, gold.open("rb") as other:
        planning, page = ordered(requester, asked, belief="file", answers=one, gold=other)
    believed = forecast_requests.stored_belief(planning)
    assert isinstance(believed, PastBelief)
    assert believed.answers == (20, 20, 20)
    assert "like the 3 of answers.csv" in text_of(requester.get(page))
    asked_anew = f"{BEGIN}?forecast={planning.pk}"
    assert requester.post(asked_anew, asked | {"belief": "file", "k": 1}).status_code == 302
    assert forecast_requests.stored_belief(Planning.objects.order_by("pk").last()) == believed
    assert make(requester, page, "credible|").belief["kind"] == "past"


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"k": 8}, "k", "K must be at least 1 and less than the number of workers (8)"),
        ({"pool": ""}, "pool", "This field is required."),
        ({"precise": "own"}, "precise_own", "Give a number, such as 7"),
        ({"precise": "own", "precise_own": "100"}, "precise_own", "below 1"),
        ({"sure": "own", "sure_own": "0"}, "sure_own", "Delta must be above 0 and below 1"),
        ({"spend": "10", "price": ""}, "price", "Say what an answer costs"),
        ({"spend": "0.01"}, "spend", "does not pay for one answer"),
        ({"precise": "money"}, "spend", "Say how much you can spend"),
        ({"price": "-1"}, "price", "greater than or equal to 0"),
        ({"belief": "range", "low": "90", "high": "60"}, "low", "the lower one first"),
        ({"belief": "range"}, "low", "Give both numbers"),
        ({"belief": "run"}, "run", "Choose the run"),
        ({"belief": "file"}, "answers", "Give both files"),
        ({"speed": "0"}, "speed", "more than 0 answers an hour"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(requester, asked, changes, field, why):
    response = ask(requester, asked, **changes)
    assert response.status_code == 200
    assert list(response.context["form"].errors) == [field]
    assert why in text_of(response)
    assert not Planning.objects.exists()


def test_a_bad_file_is_refused_with_its_line(requester, asked, tmp_path):
    answers, gold = write_past(tmp_path, [0.9, 0.6], 5)
    answers.write_text("worker,task,label\nw1,,yes\n")
    with answers.open("rb") as one, gold.open("rb") as other:
        response = ask(requester, asked, belief="file", answers=one, gold=other)
    assert "answers.csv, line 2" in text_of(response)


def test_an_empty_question_set_is_refused_and_an_empty_house_says_what_is_missing(requester):
    assert "There is no pool of workers yet. There is no question set yet." in text_of(
        requester.get(BEGIN)
    )
    form = {"pool": make_pool(5).pk, "question_set": make_questions(0).pk, "k": 2}
    assert "This question set is empty" in text_of(requester.post(BEGIN, form))


def test_the_money_counts_in_answers_and_another_price_needs_no_new_forecast(requester, asked):
    planning, page = ordered(requester, asked, spend="12.55")
    assert forecast_requests.stored_plan(planning).budget == 251
    assert "12.55 €: 251 answers" in text_of(requester.get(page))
    again, _ = ordered(requester, asked, price="0.10", spend="25.10")
    assert again == planning


def test_it_says_how_long_it_takes_at_the_pace_given_or_seen_before(requester, asked):
    _, page = ordered(requester, asked, speed="10")
    assert "The crowd gives 10 answers an hour." in text_of(requester.get(page))
    _, unknown = ordered(requester, asked)
    assert "answers an hour" not in text_of(requester.get(unknown))


def test_it_says_which_epsilon_the_money_reaches_and_takes_it(requester, asked, monkeypatch):
    planning, page = ordered(requester, asked, precise="money", spend="10")
    first = forecast_requests.stored_plan(planning).epsilon
    assert parse_qs(urlsplit(page).query)["precise_own"] == [f"{100 * first:g}"]
    title = forecast_requests.forecast_rows(planning)[0].title
    words = text_of(requester.get(page))
    assert f"What 10.00 € reach With {title}: ε = {first:g}" in words
    assert "Make this run" in words
    points = [
        point(at, [50, 60, 70], feasible=at >= 0.005, title=title) for at in (0.003, 0.005, 0.1)
    ]
    monkeypatch.setattr(
        forecast_requests, "forecast_curves", lambda planning: {"epsilon": points, "k": []}
    )
    assert "ε = 0.005, so the selection is within 0.5 points" in text_of(requester.get(page))
    taken = requester.post(page, {"do": "at", "epsilon": "0.005"})["Location"]
    assert parse_qs(urlsplit(taken).query)["precise_own"] == ["0.5"]
    assert forecast_requests.stored_plan(Planning.objects.order_by("pk").last()).epsilon == 0.005
    assert requester.get(taken).context["wish"].plan.epsilon == 0.005


def test_more_money_reaches_a_smaller_epsilon(requester, asked):
    found = []
    for spend in ("3", "16"):
        planning, _ = ordered(requester, asked, precise="money", spend=spend, precise_own="33")
        found.append(forecast_requests.stored_plan(planning).epsilon)
    assert found[0] > found[1]


def test_curves_are_drawn_with_the_limits_and_said_in_a_table(requester, asked, monkeypatch):
    _, page = ordered(requester, asked)
    points = [
        point(1, [90, 150, 400], feasible=False),
        point(2, [90, 150, 400]),
        point(4, None, median=120, runs=7),
    ]
    monkeypatch.setattr(
        forecast_requests, "forecast_curves", lambda planning: {"epsilon": [], "k": points}
    )
    response = requester.get(page)
    assert [chart.name for chart in response.context["charts"]] == ["k"]
    words = text_of(response)
    assert "150 (90 to 400, finished in fewer than nine of ten)" in words
    assert "120 (too few simulations yet: 7)" in words
    assert "every question answered by everybody: 320" in response.content.decode()


def test_calculating_is_stopped_and_taken_up_again(requester, asked):
    planning, page = ordered(requester, asked)
    assert "first numbers" in text_of(requester.get(page))
    assert "Stopped at" in text_of(requester.post(page, {"do": "stop"}, follow=True))
    requester.post(page, {"do": "go on"})
    planning.refresh_from_db()
    assert planning.going


def test_its_numbers_are_fetched_alone(requester, asked):
    planning, page = ordered(requester, asked)
    address = admin_url("run_numbers", planning.pk) + "?" + urlsplit(page).query
    part = requester.get(address)
    assert "<html" not in part.content.decode()
    assert "Make this run" in text_of(part)


def test_no_run_is_made_of_a_question_that_fits_no_more(requester, asked):
    planning, page = ordered(requester, asked)
    bare = admin_url("run_forecast", planning.pk)
    assert "Make this run" not in text_of(requester.get(bare))
    requester.post(bare, {"do": "make", "row": "credible|"})
    requester.post(page, {"do": "make", "row": "nonsense|"})
    assert not Run.objects.exists()
    assert requester.post(page, {"do": "sing"}).status_code == 404
    Pool.objects.get(pk=asked["pool"]).workers.first().delete()
    words = text_of(requester.get(page))
    assert "has changed since this was calculated" in words
    assert "Make this run" not in words
    assert "Choose pool and questions anew" in text_of(
        requester.post(page, {"do": "make", "row": "credible|"}, follow=True)
    )


def test_only_who_may_add_runs_asks(client, asked, django_user_model):
    client.force_login(django_user_model.objects.create_user("visitor", is_staff=True))
    assert client.get(BEGIN).status_code == 403
    assert ask(client, asked).status_code == 403


def test_of_a_large_pool_the_page_says_that_numbers_will_come(requester, asked, monkeypatch):
    monkeypatch.setattr("selection.forecast.plan.MOST_AT_ONCE", 0.0)
    planning, page = ordered(requester, asked, spend="20", currency="USD")
    assert forecast_requests.forecast_rows(planning) == []
    assert "first numbers take a while" in text_of(requester.get(page))
    part = planning.parts.first()
    forecast_requests.work_on_part(part.pk, 0)
    assert "These are first numbers" in text_of(requester.get(page))
