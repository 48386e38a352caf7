"""The guarantee in one short sentence, and its weakenings in a few words."""

import pickle

import pytest

from selection import reports
from selection.reports import plain_guarantee, weakenings
from selection.reports.collusion import CollusionSigns
from selection.reports.model_fit import ModelFit
from selection.runs import lifecycle
from tests.worlds import crowd, make_run, play
from topk.credible import standouts
from topk.promise import Doubt

from .test_model_fit import odd_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        ("lucb", "With 90% certainty, each selected worker is at most 30 points less accurate "),
        ("certified", "With 90% certainty, the 2 selected are on average at most 30 points "),
        ("credible", "For 90 in 100 crowds like yours, the 2 selected workers are on average "),
    ],
)
def test_the_target_is_one_sentence_in_points(algorithm, sentence):
    assert reports.promise_status(make_run(algorithm=algorithm)).short.startswith(sentence)


@pytest.mark.parametrize("algorithm", ["lucb", "certified", "credible"])
def test_the_target_of_one_worker_counts_no_worker(algorithm):
    short = reports.promise_status(make_run(algorithm=algorithm, k=1)).short
    assert "the selected one is at most 30 points less accurate than the best" in short


def test_a_fixed_budget_guarantees_nothing():
    run = make_run(algorithm="uniform", budget=60)
    assert reports.promise_status(run).short == plain_guarantee.FIXED_BUDGET


def test_early_end_states_the_missed_target_and_the_achieved_guarantee():
    run = odd_run()
    lifecycle.stop_run(run)
    run.refresh_from_db()
    promised = reports.promise_status(run)
    points = plain_guarantee.count_points(promised.epsilon)
    assert promised.short.startswith("The target (0.1 points) was not reached. For 90 in 100")
    assert f"at most {points} less accurate" in promised.short
    for limit in (plain_guarantee.LIMITS, plain_guarantee.EARLY_LIMITS):
        assert limit in promised.short
    assert promised.reasons == ("this crowd may be of groups with very different accuracy",)


def test_too_few_answers_give_no_guarantee():
    run = play(make_run(), crowd(1, 2), most=2)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.promise_status(run).short == plain_guarantee.TOO_FEW


def test_laggards_have_the_code_of_nearly_equal_workers():
    """The fragment of the sentence that named the doubt missed this one."""
    doubt = Doubt("nearly-equal", standouts.WARNING_BEHIND.format(loss=0.2))
    fit = ModelFit((pickle.loads(pickle.dumps(doubt)),))
    (weakening,) = weakenings.list_weakenings(make_run(), fit, CollusionSigns())
    assert weakening.code == "nearly-equal"
    assert weakening.short == plain_guarantee.DOUBTS["nearly-equal"]


@pytest.mark.parametrize(
    ("difference", "words"), [(0.096, "9.6 points"), (0.01, "1 point"), (1, "100 points")]
)
def test_differences_are_points(difference, words):
    assert plain_guarantee.count_points(difference) == words
