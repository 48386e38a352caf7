"""Forecasts of a run before it starts: its cost, and if it can end."""

import pytest

from selection.errors import Refused
from selection.forecast import DefaultBelief, Plan, RangeBelief
from selection.forecast.bands import prediction_band
from selection.forecast.candidates import Contender, suitable_contenders
from selection.forecast.refining import simulate_one_more
from selection.forecast.rows import SimulationLedger, forecast_table
from selection.forecast.simulations import SimulatedEnding, SimulatedRun, draw_pool, simulate_run
from topk import SELECTORS

BELIEF = RangeBelief(0.6, 0.9)


def plan(**changes):
    settings = {"workers": 30, "k": 5, "epsilon": 0.1, "delta": 0.05, "questions": 40}
    return Plan(**(settings | changes))


def table(runs=1, belief=BELIEF, **changes):
    wanted = plan(**changes)
    ledgers = [SimulationLedger(contender) for contender in suitable_contenders(wanted)]
    for ledger in ledgers:
        while len(ledger.plays) < runs and not ledger.cannot:
            simulate_one_more(ledger, belief)
    return forecast_table(wanted, ledgers)


def small_plan(**changes):
    return {"workers": 6, "k": 2, "epsilon": 0.3, "questions": 20} | changes


def row_of(rows, name, options=None):
    return next(row for row in rows if row.algorithm == name and row.options == (options or {}))


@pytest.fixture(scope="module")
def new_user_table():
    """Return the forecast of a new user: thirty workers, forty gold questions."""
    return table(runs=2, price=0.05)


@pytest.mark.slow
def test_recommends_an_algorithm_with_about_200_answers(new_user_table):
    best = new_user_table[0]
    assert best.algorithm == "credible"
    assert best.feasible
    assert 120 <= best.median <= 280
    assert [row for row in new_user_table if row.recommended] == [best]


def test_adaptive_top_k_cannot_end_and_has_ways_out(new_user_table):
    row = row_of(new_user_table, "adaptive-top-k")
    assert not row.feasible
    assert row.out_of_questions == 1
    assert row.median == 1200
    assert row.answers_per_worker["at_most"] == 40
    assert "more than" in row.why
    assert "you have 40 questions" in row.why
    assert "Use Credible" in row.why
    assert "add questions" in row.why


def test_states_the_epsilon_reached_by_all_questions(new_user_table):
    certified = row_of(new_user_table, "certified")
    assert not certified.feasible
    assert 0.1 < certified.epsilon_at_end < 0.5
    assert f"llow ε = {certified.epsilon_at_end:g} or more" in certified.why


def test_certified_ends_on_a_fixed_question_set(new_user_table):
    options = {"accuracy": "on this question set", "questions": 40}
    row = row_of(new_user_table, "certified", options)
    assert row.feasible
    assert row.median < 1200
    assert "40 questions" in row.guarantee


def test_fewer_than_20_simulations_give_a_median_without_a_band(new_user_table):
    for row in new_user_table:
        if not row.cannot:
            assert (row.answers, row.cost, row.runs) == (None, None, 2)
            assert row.median > 0
            assert f" of {row.runs} simulations" in row.why or row.fixed_budget
    assert not any("no worker was asked more" in row.why for row in new_user_table)


@pytest.mark.slow
def test_twenty_simulations_give_a_band():
    best = table(20, **small_plan(price=0.05))[0]
    low, median, high = best.answers
    assert low < median == best.median < high
    assert best.cost == pytest.approx([0.05 * answers for answers in best.answers], abs=0.006)
    assert "finished in 20 of 20 simulations, and no worker was asked more than" in best.why


def test_an_algorithm_that_fails_is_a_row_and_the_others_go_on(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by zero\nand more")

    monkeypatch.setattr(SELECTORS["lucb"], "ask", broken)
    rows = table(**small_plan())
    (row,) = (row for row in rows if row.algorithm == "lucb")
    assert row.cannot == row.why == "It cannot be simulated. It failed: ZeroDivisionError."
    assert (row.median, row.answers, row.runs, row.keeps) == (None, None, 0, False)
    assert rows[0].recommended
    assert rows[0].median > 0


def test_a_budget_above_all_questions_stops_no_forecast():
    rows = table(3, workers=6, k=2, epsilon=0.3, questions=10, budget=200)
    assert rows[0].algorithm == "credible"
    for name in ("uniform", "csar", "sar"):
        row = row_of(rows, name)
        assert row.median <= 60
        assert not row.feasible
        assert "It cannot spend the budget of 200 answers: with 10 questions it takes" in row.why


def test_algorithm_that_mostly_ends_is_feasible():
    """Beta(2,2), 150 workers: certified ends at 11,000 of 30,000 answers, but not on every crowd
    that "most workers 0.2 to 0.8" may mean. One simulated run on such a crowd is no verdict."""
    contender = Contender("certified", plan(workers=150, k=10, epsilon=0.08, questions=200))
    cut = SimulatedRun(30_000, 200, SimulatedEnding.QUESTIONS, 0.11, 0.01)
    ended = SimulatedRun(11_000, 120, SimulatedEnding.GUARANTEE, 0.08, 0.01)
    (first, *_) = forecast_table(contender.plan, [SimulationLedger(contender, [cut])])
    assert (first.median, first.answers, first.few) == (30_000, None, True)
    (row, *_) = forecast_table(
        contender.plan, [SimulationLedger(contender, [ended] * 17 + [cut] * 5)]
    )
    assert row.answers[0] < 11_000 < row.answers[2]
    assert (row.finished, row.runs) == (17, 22)
    assert "In 5 of 22 simulations the questions would run out" in row.why


def test_unknown_currency_is_not_rounded():
    contender = Contender("credible", plan(**small_plan(price=0.0015)))
    plays = [SimulatedRun(41 + i, 9, SimulatedEnding.GUARANTEE, 0.3, 0.01) for i in range(20)]
    (row, *_) = forecast_table(contender.plan, [SimulationLedger(contender, plays)])
    assert row.cost == pytest.approx([0.0015 * answers for answers in row.answers], abs=0.00006)


def test_missing_price_gives_no_cost():
    assert table(**small_plan())[0].cost is None


def test_the_same_plan_has_the_same_forecast():
    assert table(**small_plan()) == table(**small_plan())


def test_algorithms_meet_the_same_pools():
    contender, last = suitable_contenders(plan())[0], suitable_contenders(plan())[-1]
    assert (draw_pool(contender, BELIEF, 3) == draw_pool(last, BELIEF, 3)).all()
    assert (draw_pool(contender, BELIEF, 3) != draw_pool(contender, BELIEF, 4)).any()


def test_an_option_that_is_not_offered_has_no_row():
    ways = [one for one in suitable_contenders(plan()) if one.name == "credible"]
    assert [one.options for one in ways] == [{}]


def test_goal_decides_the_recommendation():
    rows = table(**small_plan(goal="every", questions=600))
    assert rows[0].feasible
    assert "each selected worker" in rows[0].guarantee or "are the best 2" in rows[0].guarantee
    assert not row_of(rows, "credible").keeps


def test_recommends_one_even_if_no_algorithm_can_end():
    rows = table(**small_plan(questions=3, goal="exact"))
    assert not any(row.feasible for row in rows if row.keeps)
    assert sum(row.recommended for row in rows) == 1
    assert rows[0].keeps


def test_too_small_a_budget_is_reported():
    row = row_of(table(budget=80), "credible")
    assert not row.feasible
    assert row.out_of_budget == 1
    assert row.median == 80
    assert row.epsilon_at_end > 0.1
    assert "budget would run out" in row.why


def test_budget_algorithms_have_rows_without_a_guarantee():
    assert not any(row.fixed_budget for row in table(**small_plan()))
    spenders = [
        row for row in table(**small_plan(budget=100)) if row.fixed_budget and not row.cannot
    ]
    assert {"sar", "uniform"} <= {row.algorithm for row in spenders}
    for row in spenders:
        assert not row.keeps
        assert not row.recommended
        assert row.epsilon_at_end is None
        assert row.median <= 100
        assert "no guarantee" in row.why or "without a guarantee" in row.why


@pytest.mark.parametrize("name", [one.name for one in suitable_contenders(plan(budget=200))])
def test_workers_never_exceed_the_questions(name):
    contender = Contender(name, plan(questions=12, budget=200))
    played = simulate_run(contender, draw_pool(contender, BELIEF, 1), 1)
    assert 0 < played.answers <= 200
    assert played.most <= 12
    assert 0 <= played.loss < 1


def test_a_run_that_ends_by_itself_keeps_its_epsilon():
    contender = Contender("credible", plan())
    played = simulate_run(contender, draw_pool(contender, BELIEF, 0), 0)
    assert played.ending is SimulatedEnding.GUARANTEE
    assert played.epsilon == 0.1


def test_band_is_made_of_the_ranks_of_the_outcomes():
    assert prediction_band(range(1, 100), 1000, unthought=0) == (10, 50, 90)


def test_band_is_wider_for_unforeseen_crowds():
    assert prediction_band([100] * 50, 1000, unthought=0) == (100, 100, 100)
    assert prediction_band([100] * 50, 1000) == (77, 100, 129)
    wide, wider = (
        prediction_band(range(50, 150), 1000, unthought=0),
        prediction_band(range(50, 150), 1000),
    )
    assert wider[0] < wide[0] < wide[1] == wider[1] < wide[2] < wider[2]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("runs", [1, 3, 50])
def test_runs_without_answers_have_a_band_of_zero(runs):
    assert prediction_band([0] * runs, 1000) == (0, 0, 0)
    low, median, high = prediction_band([0] * runs + [40] * runs, 1000)
    assert low == 0 <= median <= high <= 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_algorithm_without_answers_is_recommended():
    rows = table(20, DefaultBelief(), workers=8, k=7, epsilon=0.2, questions=20, price=0.05)
    assert (rows[0].answers, rows[0].cost) == ((0, 0, 0), (0, 0, 0))
    assert any("needs no answers" in row.why for row in rows)


def test_band_never_exceeds_the_upper_bound():
    assert prediction_band([900, 1000, 1000], 1000)[2] == 1000
    assert prediction_band([1000], 1000) == (1000, 1000, 1000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 30}, "K must be at least 1 and less"),
        ({"workers": 1}, "at least 2 workers"),
        ({"workers": 20_000}, "number of workers must be 1 to 10,000"),
        ({"epsilon": 1.5}, "Epsilon must be"),
        ({"epsilon": float("nan")}, "Epsilon must be"),
        ({"delta": 0}, "Delta must be"),
        ({"questions": 0}, "number of questions must be 1"),
        ({"price": -1}, "price of an answer must be 0 or more"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"goal": "fun"}, "goal must be one of group, every, exact"),
    ],
)
def test_invalid_plans_are_refused(changes, message):
    with pytest.raises(Refused, match=message):
        plan(**changes)
