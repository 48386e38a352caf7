"""Forecasts of running runs: how good the selected would be, and who would pass."""

import numpy as np
import pytest

from selection import engine
from selection.forecast import running_forecast
from selection.forecast.selected_quality import Tallies, describe_selected
from selection.models import Run
from selection.reports import forecast_remaining
from tests import worlds
from tests.selection.forecast.test_running_forecast import begin_run
from topk import SELECTORS

pytestmark = pytest.mark.django_db
MARK = 0.8


@pytest.fixture(autouse=True)
def three_runs(monkeypatch):
    monkeypatch.setattr(running_forecast, "RUNS", 3)
    monkeypatch.setattr(running_forecast, "SECONDS", 1000.0)


@pytest.mark.parametrize("algorithm", ["credible", "certified", "universal", "kl-racing"])
def test_rule_says_how_good_the_selected_would_be(algorithm):
    forecast = running_forecast.make_forecast(begin_run(algorithm=algorithm, epsilon=0.2))
    assert 0 < forecast.mean_at_least < forecast.accuracy < 1
    assert forecast.passing is None


def test_rule_for_a_mark_passes_all_selected():
    run = begin_run(algorithm="mark-share", epsilon=0.1, pass_mark=MARK)
    forecast = running_forecast.make_forecast(run)
    assert forecast.passing == 3
    assert forecast.mean_at_least < forecast.accuracy
    assert forecast.accuracy > MARK


def test_mark_adds_answers_and_no_step_of_the_rule(monkeypatch):
    """The same run without its mark is simulated with the same steps, and fewer answers."""
    run, steps = begin_run(rounds=6, epsilon=0.1, pass_mark=MARK), []
    kind = SELECTORS[run.algorithm]
    ask = kind.ask
    monkeypatch.setattr(kind, "ask", lambda *args, **how: steps.append(1) or ask(*args, **how))
    monkeypatch.setattr(running_forecast, "RUNS", 1)
    marked = running_forecast.make_forecast(run)
    number = len(steps)
    run.pass_mark = None
    plain = running_forecast.make_forecast(run)
    assert (len(steps), plain.passing) == (2 * number, None)
    assert marked.median > plain.median
    assert 0 < marked.passing <= 3


def tally(accuracies, run, left=10_000):
    """Return tallies of workers of these accuracies, with ten answers each."""
    truth, n = np.array(accuracies), len(accuracies)
    pulls, room = np.full(n, 10), np.full(n, 500)
    return Tallies(run, np.round(10 * truth), pulls, np.zeros(n, int), truth, room, left)


@pytest.mark.parametrize("accuracy", ["", "on this question set"])
def test_marks_are_settled_for_the_selected_alone(accuracy):
    options = {"accuracy": accuracy} if accuracy else {}
    settings = {"algorithm": "certified", "k": 3, "pass_mark": MARK}
    run = worlds.make_run(n=4, questions=510, options=options, **settings)
    tallies, arms = tally([0.95, 0.5, 0.94, 0.9], run), np.arange(3)
    tallies.settle_marks(arms, np.random.default_rng(1))
    assert (tallies.pulls[:3] < 300).all()
    assert tallies.pulls[3] == 10
    assert tallies.pulls.sum() + tallies.left == 10_040
    mean, stated, passing = tallies.judge(arms)
    assert (mean, passing) == (pytest.approx(0.945), 2)
    assert 0.5 < stated < mean


def test_doubtful_marks_end_with_the_questions_or_the_budget():
    run = worlds.make_run(n=2, start=False, pass_mark=MARK)
    for left, answers in ((10_000, 60), (10, 30)):
        tallies = tally([MARK, MARK], run, left)
        tallies.room[:] = 20
        tallies.settle_marks(np.arange(2), np.random.default_rng(2))
        assert tallies.pulls.sum() == answers
        assert tallies.judge(np.arange(2)) == (None, None, 0)


def test_run_that_waits_for_marks_has_answers_to_come(requester):
    """The rule's own end was forecast until then: no answers at all."""
    run = worlds.make_run(n=3, questions=200, k=2, epsilon=0.3, pass_mark=0.75, slots=12)
    crowd = worlds.crowd(3, 2, 0.85, 0.3)
    for _ in range(40):
        worlds.answer_all(run, crowd)
        engine.advance(run.pk)
        if running_forecast.load_live_run(run).selector().stop():
            break
    running_forecast.refresh_forecast(run.pk)
    forecast = forecast_remaining(Run.objects.get(pk=run.pk))
    assert forecast.finished == forecast.runs
    assert forecast.median > 0
    assert forecast.passing is not None
    page = requester.get(f"/admin/selection/run/{run.pk}/").content.decode()
    assert "would reach the pass mark." in page


@pytest.mark.parametrize(
    ("quality", "words"),
    [
        ((None, None, None), ""),
        ((None, None, 0), "No worker would reach the pass mark."),
        ((0.876, None, None), "The selected would be 88% right on average."),
        (
            (0.9, 0.8457, 2),
            "The selected would be 90% right on average, with at least 84% guaranteed. "
            "2 of 3 would reach the pass mark.",
        ),
    ],
)
def test_quality_is_said_in_a_sentence(quality, words):
    assert describe_selected(*quality, 3) == words
