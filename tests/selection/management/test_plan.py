"""``manage.py plan``."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from selection import forecast
from tests import worlds
from tests.pasts import write_past

WANTED = {"--workers": "6", "--k": "2", "--epsilon": "0.3", "--questions": "20"}
FIELDS = {"algorithm", "promise", "answers", "cost", "answers_per_worker", "feasible", "why"}


def plan(*more, **other):
    said = StringIO()
    given = WANTED | {f"--{name}": value for name, value in other.items()}
    numbers = [text for pair in given.items() for text in pair]
    call_command("plan", *numbers, "--seconds", "0.001", *more, stdout=said)
    return said.getvalue()


def refused(*more, **other):
    with pytest.raises(CommandError) as caught:
        plan(*more, **other)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_plan_recommends_an_algorithm_with_its_cost():
    said = plan("--believe", "0.6-0.9", price="0.05")
    assert "80%" in said
    assert "(--algorithm credible)" in said
    assert "cost" in said


def test_plan_says_if_no_belief_about_the_workers_is_given():
    assert plan().startswith("Nothing is known about these workers")


def test_programs_get_a_list_with_one_recommended():
    rows = json.loads(plan("--json", price="0.05"))
    assert all(set(row) >= FIELDS for row in rows)
    assert [row["recommended"] for row in rows].count(True) == 1
    best = rows[0]
    assert (best["answers"], best["cost"]) == (None, None)
    assert 0 < best["finished"] <= best["runs"] < 20
    assert best["median"] > 0


def test_few_simulations_are_said_to_be_few():
    said = plan()
    assert "recommended, too few simulations yet (" in said
    assert "the promise is kept" not in said


def test_a_budget_above_all_questions_is_forecast_all_the_same():
    said = plan("--seconds", "1", budget="500")
    assert "(--algorithm credible)" in said
    assert "needs a budget" not in said


def test_plan_explains_an_algorithm_that_cannot_be_simulated():
    said = plan(budget="5")
    assert "cannot be simulated" in said
    assert "CSAR needs a budget" in said


@pytest.mark.slow
def test_money_says_which_epsilon_it_reaches():
    rows = json.loads(plan("--json", "--spend", "2", price="0.05"))
    assert rows[0]["recommended"]
    assert 0 < rows[0]["epsilon"] <= 0.5
    said = plan("--spend", "1", price="0.05")
    assert "1 pays for 20 answers at 0.05." in said


def test_a_file_of_past_answers_is_believed(tmp_path):
    answers, gold = write_past(tmp_path, [0.95, 0.9, 0.5, 0.4], 30)
    said = plan("--answers", str(answers), "--gold", str(gold))
    assert f"like the 4 workers of {answers.name}" in said


@pytest.mark.django_db
def test_an_earlier_run_is_believed():
    run = worlds.make_run(4)
    run.candidates.update(pulls=10, rewards=7)
    assert f"like the 4 workers of the run “{run.name}”" in plan("--learn", run.name)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--believe", "good"], "for example 0.6-0.9"),
        (["--spend", "5"], "--spend needs --price"),
        (["--spend", "0.01", "--price", "0.05"], "does not pay for one answer"),
        (["--answers", "a.csv"], "--answers and --gold go together"),
        (["--seconds", "0"], "--seconds must be above 0"),
        (["--seconds", "nan"], "--seconds must be above 0"),
        (["--budget", "0"], "budget must be at least 1"),
        (["--epsilon", "0", "--questions", "0"], "number of questions"),
    ],
)
def test_impossible_plan_is_refused_in_one_sentence(more, said):
    assert said in refused(*more)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert "nowhere.csv" in refused(
        "--answers", str(tmp_path / "nowhere.csv"), "--gold", str(tmp_path / "g.csv")
    )


def test_goals_of_the_command_equal_those_of_the_forecast():
    assert list(forecast.GOALS) == ["group", "every", "exact", "mark"]
