"""The guided start: the form, the forecast, and a draft made of a row."""

from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest

from selection import engine
from selection.admin.wizard import forecast_rows
from selection.admin.wizard.choices import ALGORITHM_OF_NEED
from selection.admin.wizard.form import read_settings
from selection.algorithms import ALGORITHMS, OUR_RULES
from selection.forecast import DefaultBelief, PastBelief, RangeBelief, forecast_requests
from selection.models import ForecastRequest, Pool, QuestionSet, Run
from selection.outbox import celery_messages, jobs
from selection.runs import lifecycle
from selection.runs.settings.run_settings import SETTINGS
from tests.pages import admin_url, text_of
from tests.pasts import write_past
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

BEGIN = admin_url("run_begin")


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 0.02)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


@pytest.fixture
def form_data() -> dict[str, object]:
    """The form as a browser sends it, with the required fields filled in."""
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


def ask(requester, form_data, **changes):
    return requester.post(BEGIN, form_data | changes)


def ordered(requester, form_data, **changes) -> tuple[ForecastRequest, str]:
    """Return the forecast and the address of its page."""
    response = ask(requester, form_data, **changes)
    assert response.status_code == 302, text_of(response)
    return ForecastRequest.objects.order_by("created").last(), response["Location"]


def point(value: float, answers: list[int] | None, **other: object) -> dict[str, object]:
    """Return a point of a curve, as ``forecast_requests.forecast_curves`` returns them."""
    defaults = {"median": answers[1] if answers else None, "runs": 40, "feasible": True}
    return {"at": value, "answers": answers, "title": "Credible"} | defaults | other


def make(requester, page: str, row: str) -> Run:
    requester.post(page, {"do": "make", "row": row})
    return Run.objects.order_by("pk").last()


def test_adding_a_run_begins_here_and_every_setting_is_in_the_last_section(requester):
    guide = requester.get(admin_url("run_add"), follow=True)
    assert guide.request["PATH_INFO"] == BEGIN
    form = guide.context["form"]
    last = {field.name for _, part in form.all_settings() for field in part}
    own = {"pool", "question_set", "k", "price", "currency", "pass_mark", "platform"}
    own |= {"worker_parameter", "completion_url"}
    answers = {"epsilon", "delta", "budget", "enrol_most"}
    assert set(SETTINGS) <= last | own | answers
    assert {"quota_attribute", "quota_lines", "only_from", "option_accuracy", "skills"} <= last
    usual = form.fields["algorithm"].choices[1][1]
    assert [name for name, _ in usual][:4] == list(OUR_RULES)
    assert len(usual) == 6


def test_all_settings_of_the_form_are_those_of_the_draft(requester, form_data, monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)
    QuestionSet.objects.get().questions.update(choices=["yes", "no"])
    given = {"name": "Mine", "minutes": 7, "seed": 5, "left_out": "w7", "slots": 9}
    given |= {"algorithm": "certified", "option_accuracy": "on this question set"}
    _, page = ordered(requester, form_data, **given)
    assert requester.get(page).context["best"].row.algorithm == "certified"
    estimated = make(requester, page, "certified|on this question set")
    requester.post(BEGIN, form_data | given | {"name": "Yours", "do": "draft"})
    for run in (estimated, Run.objects.get(name="Yours")):
        assert (run.minutes, run.seed, run.left_out, run.slots) == (7, 5, ["w7"], 9)
        assert (run.algorithm, run.options) == ("certified", {"accuracy": "on this question set"})
        assert (run.epsilon, run.delta, run.hours_to_come, run.met) == (0.2, 0.1, 48, "out")
    assert estimated.name == "Mine"


@pytest.mark.parametrize(("need", "algorithm"), ALGORITHM_OF_NEED.items())
def test_a_draft_without_an_estimate_has_the_algorithm_of_its_goal(
    requester, form_data, need, algorithm
):
    requester.post(BEGIN, form_data | {"goal": need, "pass_mark": "0.8", "do": "draft"})
    assert Run.objects.get().algorithm == algorithm


QUOTAS = {"quota_attribute": "tongue", "quota_lines": "en: 1-\nde: 1"}


def test_the_form_recommends_only_what_keeps_the_quotas(requester, form_data, monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)  # until each algorithm has had its turn
    pool = make_pool(8, tongue=["en", "de"])
    _, page = ordered(requester, form_data, pool=pool.pk, **QUOTAS)
    facts = requester.get(page).context
    shown = {one.row.algorithm for one in (facts["best"], *facts["rules"], *facts["others"])}
    kept = {name for name in shown if ALGORITHMS[name].keeps_quotas}
    assert facts["best"].row.algorithm in kept
    assert all(one.row.cannot for one in facts["others"] if one.row.algorithm not in kept)
    run = make(requester, page, facts["best"].key)
    assert run.quotas == {"attribute": "tongue", "limits": {"en": [1, None], "de": [1, 1]}}
    lifecycle.start_run(run)


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"quota_lines": "en: 3"}, "quota_lines", "K is 2"),
        ({"quota_attribute": "age"}, "quota_lines", "age"),
        ({"quota_attribute": ""}, "quota_attribute", "which attribute"),
        ({"quota_lines": "en 3"}, "quota_lines", "cannot be read"),
        ({"algorithm": "credible"}, "algorithm", "Credible cannot keep quotas"),
    ],
)
def test_quotas_that_cannot_be_kept_are_refused_at_once(
    requester, form_data, changes, field, reason
):
    pool = make_pool(8, tongue=["en", "de"])
    response = ask(requester, form_data, pool=pool.pk, **QUOTAS | changes)
    assert reason in str(response.context["form"].errors[field])
    assert response.context["form"].changes_settings()


def test_wizard_recommends_one_algorithm_with_its_cost_and_reasons(requester, form_data):
    job, page = ordered(requester, form_data)
    text = text_of(requester.get(page))
    best = forecast_requests.forecast_rows(job)[0]
    assert f"{best.title} recommended" in text
    assert "the 2 selected are on average at most 20 points less accurate" in text
    assert "Cheapest method that meets your goal: finished in" in best.why
    cost = f"€{best.median * Decimal('0.05'):.2f}"
    assert f"Cost {cost}" in text
    assert f"Answers {best.median} too few simulations yet ({best.runs})" in text


OURS = ("credible", {})


def test_wizard_shows_band_and_finished_share_from_20_simulations(requester, form_data):
    job, page = ordered(requester, form_data)
    # Which other methods had a turn by now, and could be cheaper, depends on the machine.
    job.result = [one for one in job.result if (one["algorithm"], one["options"]) == OURS]
    plays = [[answers, 10, "guarantee", 0.2, 0.0] for answers in range(60, 90)]
    job.result[0]["plays"] = plays
    job.save()
    text = text_of(requester.get(page))
    low, median, high = forecast_requests.forecast_rows(job)[0].answers
    assert f"Answers {median} 80% range {low} to {high}" in text
    assert f"Cost €{median * Decimal('0.05'):.2f}" in text
    assert "finished in 30 of 30 simulations, and no worker was asked more than 10 of 40" in text
    assert "typical maximum 10" in text


def test_an_algorithm_that_cannot_be_simulated_is_named_with_the_reason(requester, form_data):
    job, page = ordered(requester, form_data, spend="0.3")
    text = text_of(requester.get(page))
    reasons = [
        row.cannot for row in forecast_requests.forecast_rows(job) if row.algorithm == "csar"
    ]
    assert "needs a budget" in reasons[0]
    assert reasons[0] in text


@pytest.mark.parametrize("algorithm", ["credible", "certified"])
def test_a_run_is_created_with_all_settings_of_the_form(
    requester, form_data, algorithm, monkeypatch
):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)  # until each algorithm has had its turn
    earlier = make_run(n=30, k=5, algorithm="credible", slots=60, epsilon=0.05)
    engine.advance(earlier.pk)
    answer_all(earlier, crowd(2, 30, high=0.75))
    engine.advance(earlier.pk)
    lifecycle.stop_run(earlier)
    earlier.question_set.questions.update(prompt="Another?")  # else these workers met them
    accuracy = "" if algorithm == "credible" else "on this question set"
    settings = {"belief": "run", "run": earlier.pk, "spend": "20", "currency": "USD"}
    job, page = ordered(requester, form_data, **settings)
    run = make(requester, page, f"{algorithm}|{accuracy}")
    assert (run.status, run.algorithm, run.name) == ("draft", algorithm, f"Best 2 of {run.pool}")
    assert (run.k, run.epsilon, run.delta, run.budget) == (2, 0.2, 0.1, 400)
    assert (run.price, run.currency) == (Decimal("0.05"), "USD")
    assert run.options.get("accuracy", "") == accuracy
    assert run.belief == job.wanted["belief"]
    lifecycle.start_run(run)


def test_an_emptied_setting_that_needs_a_value_keeps_its_default():
    settings = [SETTINGS["price"], SETTINGS["slots"], SETTINGS["minutes"]]
    emptied = {"price": None, "slots": None, "minutes": 5}
    assert read_settings(emptied, settings) == {"price": None, "minutes": 5}


def test_a_name_is_free_unless_one_is_given(requester, form_data):
    make_run(name="Draft", start=False)
    ordered(requester, form_data)
    refused = ask(requester, form_data, name="Draft")
    assert "another run of the name" in str(refused.context["form"].errors["name"])


def test_two_runs_of_the_same_question_have_two_names(requester, form_data):
    _, page = ordered(requester, form_data)
    names = [make(requester, page, "credible|").name for _ in range(2)]
    assert names[1] == f"{names[0]}, 2"


def test_the_form_can_be_changed_and_keeps_its_content(requester, form_data):
    _, page = ordered(
        requester, form_data, belief="range", low="55", high="90", sure="own", sure_own=97
    )
    html = requester.get(page).content.decode()
    query = urlsplit(page).query
    assert f"{BEGIN}?{query}&forecast=".replace("&", "&amp;") in html
    second = requester.get(f"{BEGIN}?{query}").context["form"]
    values = {name: str(second[name].value()) for name in second.fields if second[name].value()}
    assert {
        name: str(value) for name, value in form_data.items() if value and name != "sure"
    }.items() < (values.items())
    assert (values["low"], values["high"], values["sure"], values["sure_own"]) == (
        ("55", "90", "own", "97")
    )


@pytest.mark.parametrize(
    ("answers", "belief"),
    [
        ({}, DefaultBelief()),
        ({"belief": "0.5-0.95"}, RangeBelief(0.5, 0.95)),
        ({"belief": "range", "low": "60", "high": "90"}, RangeBelief(0.6, 0.9)),
    ],
)
def test_the_belief_in_the_form_is_simulated(requester, form_data, answers, belief):
    job, _ = ordered(requester, form_data, **answers)
    assert forecast_requests.stored_belief(job) == belief


def test_past_answers_are_learned_from_and_kept_when_the_question_changes(
    requester, form_data, tmp_path
):
    answers, gold = write_past(tmp_path, [0.9, 0.6, 0.7], 20)
    with answers.open("rb") as answers_file, gold.open("rb") as gold_file:
        job, page = ordered(
            requester, form_data, belief="file", answers=answers_file, gold=gold_file
        )
    believed = forecast_requests.stored_belief(job)
    assert isinstance(believed, PastBelief)
    assert believed.answers == (20, 20, 20)
    assert "like the 3 workers of answers.csv" in text_of(requester.get(page))
    begin_url = f"{BEGIN}?forecast={job.pk}"
    assert requester.post(begin_url, form_data | {"belief": "file", "k": 1}).status_code == 302
    assert (
        forecast_requests.stored_belief(ForecastRequest.objects.order_by("created").last())
        == believed
    )
    assert make(requester, page, "credible|").belief["kind"] == "past"


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"k": 8}, "k", "K must be at least 1 and less than the number of workers (8)"),
        ({"pool": ""}, "pool", "This field is required."),
        ({"precise": "own"}, "precise_own", "Give a number, for example 7"),
        ({"precise": "own", "precise_own": "100"}, "precise_own", "below 1"),
        ({"sure": "own", "sure_own": "0"}, "sure_own", "Delta must be above 0 and below 1"),
        ({"spend": "10", "price": ""}, "price", "Give the price per answer"),
        ({"spend": "0.5", "spend_unit": "answers"}, "spend", "Give a whole number of answers"),
        ({"spend": "0.01"}, "spend", "does not pay for one answer"),
        ({"precise": "money"}, "spend", "Give a budget, in money or in answers"),
        ({"price": "-1"}, "price", "Enter 0 or more"),
        ({"belief": "range", "low": "90", "high": "60"}, "low", "the lower one first"),
        ({"belief": "range"}, "low", "Give both numbers"),
        ({"belief": "run"}, "run", "Choose a run"),
        ({"belief": "file"}, "answers", "Give both files"),
        ({"speed": "0"}, "speed", "more than 0 answers per hour"),
    ],
)
def test_invalid_values_are_reported_at_their_field(requester, form_data, changes, field, reason):
    response = ask(requester, form_data, **changes)
    assert response.status_code == 200
    assert list(response.context["form"].errors) == [field]
    assert reason in text_of(response)
    assert not ForecastRequest.objects.exists()


def test_a_bad_file_is_refused_with_its_line(requester, form_data, tmp_path):
    answers, gold = write_past(tmp_path, [0.9, 0.6], 5)
    answers.write_text("worker,task,label\nw1,,yes\n")
    with answers.open("rb") as answers_file, gold.open("rb") as gold_file:
        response = ask(requester, form_data, belief="file", answers=answers_file, gold=gold_file)
    assert "answers.csv, line 2" in text_of(response)


def test_wizard_refuses_an_empty_question_set_and_names_missing_objects(requester):
    assert "There is no pool of workers yet. There is no question set yet." in text_of(
        requester.get(BEGIN)
    )
    form = {"pool": make_pool(5).pk, "question_set": make_questions(0).pk, "k": 2}
    assert "This question set is empty" in text_of(requester.post(BEGIN, form))


def test_the_money_counts_in_answers_and_another_price_needs_no_new_forecast(requester, form_data):
    job, page = ordered(requester, form_data, spend="12.55")
    assert forecast_requests.stored_plan(job).budget == 251
    assert "€12.55: 251 answers" in text_of(requester.get(page))
    counted, _ = ordered(requester, form_data, price="", spend="251", spend_unit="answers")
    assert counted == job
    second, _ = ordered(requester, form_data, price="0.10", spend="25.10")
    assert second == job


def test_wizard_estimates_the_time_at_the_given_or_earlier_pace(requester, form_data):
    _, page = ordered(requester, form_data, speed="10")
    assert "The crowd gives 10 answers per hour." in text_of(requester.get(page))
    _, unknown = ordered(requester, form_data)
    assert "The crowd gives" not in text_of(requester.get(unknown))
    assert "Estimated time Unknown" in text_of(requester.get(unknown))


def test_wizard_names_the_epsilon_that_the_money_buys_and_takes_it(
    requester, form_data, monkeypatch
):
    job, page = ordered(requester, form_data, precise="money", spend="10")
    first = forecast_requests.stored_plan(job).epsilon
    assert parse_qs(urlsplit(page).query)["precise_own"] == [f"{100 * first:g}"]
    title = forecast_requests.forecast_rows(job)[0].title
    text = text_of(requester.get(page))
    assert f"Precision for €10.00 {title} reaches ε = {first:g}" in text
    assert "Create draft run" in text
    points = [
        point(epsilon, [50, 60, 70], feasible=epsilon >= 0.005, title=title)
        for epsilon in (0.003, 0.005, 0.1)
    ]
    monkeypatch.setattr(
        forecast_requests, "forecast_curves", lambda job: {"epsilon": points, "k": []}
    )
    assert "ε = 0.005: the selection is within 0.5 points" in text_of(requester.get(page))
    location = requester.post(page, {"do": "at", "epsilon": "0.005"})["Location"]
    assert parse_qs(urlsplit(location).query)["precise_own"] == ["0.5"]
    assert (
        forecast_requests.stored_plan(ForecastRequest.objects.order_by("created").last()).epsilon
        == 0.005
    )
    assert requester.get(location).context["wish"].plan.epsilon == 0.005


def test_more_money_reaches_a_smaller_epsilon(requester, form_data):
    reached = []
    for spend in ("3", "16"):
        job, _ = ordered(requester, form_data, precise="money", spend=spend, precise_own="33")
        reached.append(forecast_requests.stored_plan(job).epsilon)
    assert reached[0] > reached[1]


def test_curves_are_drawn_with_the_limits_and_listed_in_a_table(requester, form_data, monkeypatch):
    _, page = ordered(requester, form_data)
    points = [
        point(1, [90, 150, 400], feasible=False),
        point(2, [90, 150, 400]),
        point(4, None, median=120, runs=7),
    ]
    monkeypatch.setattr(
        forecast_requests, "forecast_curves", lambda job: {"epsilon": [], "k": points}
    )
    response = requester.get(page)
    assert [chart.name for chart in response.context["charts"]] == ["k"]
    text = text_of(response)
    assert "150 (90 to 400, runs out of questions or budget)" in text
    assert "120 (too few simulations yet: 7)" in text
    assert "all workers answer all questions: 320" in response.content.decode()


def test_calculating_is_stopped_and_taken_up_again(requester, form_data):
    job, page = ordered(requester, form_data)
    assert "First estimate" in text_of(requester.get(page))
    stopped = text_of(requester.post(page, {"do": "stop"}, follow=True))
    assert "Estimate stopped at" in stopped
    assert "Resume estimate" in stopped
    requester.post(page, {"do": "go on"})
    job.refresh_from_db()
    assert job.going


def test_no_run_is_made_of_a_question_that_fits_no_more(requester, form_data):
    job, page = ordered(requester, form_data)
    bare = admin_url("run_forecast", job.pk)
    assert "Create draft run" not in text_of(requester.get(bare))
    requester.post(bare, {"do": "make", "row": "credible|"})
    requester.post(page, {"do": "make", "row": "nonsense|"})
    assert not Run.objects.exists()
    assert requester.post(page, {"do": "sing"}).status_code == 404
    Pool.objects.get(pk=form_data["pool"]).workers.first().delete()
    text = text_of(requester.get(page))
    assert "has changed since this estimate" in text
    assert "Create draft run" not in text
    assert "Estimate the cost again" in text_of(
        requester.post(page, {"do": "make", "row": "credible|"}, follow=True)
    )


def test_a_forecast_needs_the_permission_to_add_runs(client, form_data, django_user_model):
    client.force_login(django_user_model.objects.create_user("visitor", is_staff=True))
    assert client.get(BEGIN).status_code == 403
    assert ask(client, form_data).status_code == 403


def test_wizard_says_that_numbers_of_a_large_pool_will_come(requester, form_data, monkeypatch):
    monkeypatch.setattr("selection.forecast.plan.MOST_AT_ONCE", 0.0)
    job, page = ordered(requester, form_data, spend="20", currency="USD")
    assert forecast_requests.forecast_rows(job) == []
    assert "First numbers for a large pool take a while" in text_of(requester.get(page))
    jobs.work_on_job(job.pk)
    assert "First estimate" in text_of(requester.get(page))


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({}, ("", "", "", "redirect", False)),
        ({"platform": "prolific"}, ("prolific", "", "", "redirect", True)),
        ({"platform": "mturk"}, ("mturk", "", "", "code", True)),
        (
            {"platform": "connect", "completion_url": "https://c.example/?c={code}"},
            ("connect", "", "https://c.example/?c={code}", "redirect", True),
        ),
        (
            {"platform": "custom", "worker_parameter": "participant"},
            ("custom", "participant", "", "code", True),
        ),
        # Text typed before another choice hid its field.
        (
            {"platform": "prolific", "worker_parameter": "x", "completion_url": "y"},
            ("prolific", "", "", "redirect", True),
        ),
    ],
)
def test_wizard_stores_the_chosen_platform(requester, form_data, given, stored):
    job, page = ordered(requester, form_data, **given)
    run = make(requester, page, forecast_rows.key_of(forecast_requests.forecast_rows(job)[0]))
    kept = (run.platform, run.worker_parameter, run.completion_url, run.completion, run.enrolling)
    assert kept == stored


def test_unlisted_platform_needs_its_parameter(requester, form_data):
    page = ask(requester, form_data, platform="custom")
    assert "Enter the name before the worker’s id" in text_of(page)
    page = ask(requester, form_data, platform="sona", completion_url="https://s.example/")
    assert "Put {worker} into the address" in text_of(page)


@pytest.mark.parametrize("platform", ["", "mturk"])
def test_a_second_run_starts_while_another_asks_the_same_workers(requester, form_data, platform):
    pool, questions = (
        Pool.objects.get(pk=form_data["pool"]),
        QuestionSet.objects.get(pk=form_data["question_set"]),
    )
    first = make_run(pool=pool, question_set=questions, start=False)
    QuestionSet.objects.filter(pk=form_data["question_set"]).update(most_workers=5)
    job, page = ordered(requester, form_data, platform=platform)
    lifecycle.start_run(first)
    engine.advance(first.pk)
    assert "has changed since this estimate" not in text_of(requester.get(page))
    run = make(requester, page, forecast_rows.key_of(forecast_requests.forecast_rows(job)[0]))
    assert run.pk != first.pk
    assert "Start the run" in text_of(requester.get(admin_url("run_page", run.pk)))


@pytest.mark.parametrize("platform", ["prolific", "mturk"])
def test_an_empty_pool_starts_with_an_expected_number(requester, form_data, platform):
    form_data |= {"pool": make_pool(0).pk, "platform": platform}
    assert "The pool is empty. Give the number of workers" in text_of(ask(requester, form_data))
    job, page = ordered(requester, form_data, expected="12")
    assert forecast_requests.stored_plan(job).workers == 12
    run = make(requester, page, forecast_rows.key_of(forecast_requests.forecast_rows(job)[0]))
    assert (run.enrolling, run.enrol_most) == (True, 12)
    draft = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "2 of up to 12 workers that join" in draft
    assert "Start the run" in draft
    requester.post(admin_url("run_verb", run.pk, "start"))
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING


@pytest.mark.parametrize(
    ("workers", "changes", "reason"),
    [
        (0, {}, "The pool is empty. Import workers first"),
        (8, {"platform": "mturk", "expected": "6"}, "The pool has 8 workers. Give a larger number"),
        (1, {"platform": "mturk"}, "The pool has 1 worker. Give the number of workers"),
    ],
)
def test_a_pool_too_small_is_explained(requester, form_data, workers, changes, reason):
    form_data["pool"] = make_pool(workers).pk
    assert reason in text_of(ask(requester, form_data, **changes))


def test_wizard_plans_for_all_who_reach_a_mark(requester, form_data):
    refused = text_of(ask(requester, form_data, goal="mark"))
    assert "To find all good workers, give a pass mark above ε and below 1." in refused
    job, page = ordered(requester, form_data, goal="mark", pass_mark="0.8")
    text = text_of(requester.get(page))
    assert "Up to 2 of 8 workers" in text
    epsilon = forecast_requests.stored_plan(job).epsilon
    shown = f"{100 * (0.8 - epsilon):g}%, the pass mark of 80% less ε"
    assert f"up to 2 workers, each shown to reach {shown}" in text
    assert f"has a true accuracy of at least {shown}" in text or "below " + shown in text
    begin = text_of(requester.get(admin_url("run_begin")))
    assert "All good workers, up to K each is shown to reach the pass mark less ε" in begin
    goal, precise = begin.index("Kind of guarantee"), begin.index("How precise must")
    assert goal < begin.index("Pass mark") < precise
    best = forecast_requests.forecast_rows(job)[0]
    run = make(requester, page, forecast_rows.key_of(best))
    assert (run.algorithm, run.pass_mark) == (best.algorithm, 0.8)
    assert run.selector_class.takes_mark


def test_wizard_says_what_a_mark_costs_beside_a_rule(requester, form_data):
    _, page = ordered(requester, form_data, pass_mark="0.8")
    text = text_of(requester.get(page))
    assert "reaches the pass mark of 80% takes about" in text
    assert "Up to 2 of 8 workers" in text
    assert "Only those of them who are shown to reach the pass mark of 80% are selected." in text
    assert "must be above 0 and below 1" in text_of(ask(requester, form_data, pass_mark="80"))
