"""Forecasts of running runs, simulated from their own state at intervals.

Made by Celery and stored, never in a request: pages, lists and the API read the stored rows.
"""

import copy
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from time import thread_time

import numpy as np
from django.db.models import Count, F, Q
from numpy.typing import NDArray

from selection import db_clock
from selection.algorithms import describe_missing_forecast
from selection.models import RecordedAnswer, Run, RunForecast, exposure, pass_marks
from selection.models.roster import Roster
from selection.outbox.celery_messages import BACKGROUND, mark_received, send_once
from topk import Selector

from .bands import MANY, prediction_band
from .fitted import Counts, FittedBelief
from .selected_quality import Tallies, median_of
from .simulations import SimulatedEnding, play_to_end

TASK = "selection.tasks.forecast_run"
SECONDS, RUNS = 2.0, 40  # of processor time for one forecast, about, and runs at most
MOST_SECONDS = 20.0  # of processor time, if there are too few runs for a band after SECONDS
TESTED = 0.5  # share of the workers that must have answered before a run is simulated
EVERY = timedelta(seconds=60)  # least time between two forecasts of a run
SHARE = 0.05  # largest share of the time to spend on the forecasts of one run
AT_ONCE = 4  # handed out by one sweep, the oldest first
EXPIRES = 180  # seconds after which a waiting message is obsolete
SEED = 21
UNIFORM_POOLS = 200  # simulated for a test of everybody

EARLY = "Available once half of the workers have answered."
FEW = "Nothing to forecast: there are no more workers left than are to be selected."
OPEN = "Available once the roster is closed."


@dataclass(frozen=True)
class LiveRun:
    """A run as it stands, to be simulated any number of times. Arrays are by the roster's arms.

    columns    (n,) answers, right answers, verdicts and kinds of task of all the run's arms
    questions  (r,) most answers that each arm can have at the end
    elsewhere  answers that are paid and do not count here: of workers who are gone, and of
               questions that were retired
    left       answers that all arms together can still give, if the questions limit that
    """

    run: Run
    roster: Roster
    columns: tuple[Counts, NDArray[np.float64], NDArray[np.int8], Counts]
    questions: Counts
    elsewhere: int
    left: int | None = None

    def selector(self) -> Selector:
        state = self.roster.state(*self.columns[:3], copy.deepcopy(self.run.memory))
        return self.roster.selector(self.run, state)

    @property
    def pulls(self) -> Counts:
        return self.columns[0][self.roster.arms]

    def tallies(self, selector: Selector, truth: NDArray[np.float64]) -> Tallies:
        """Count the answers of all arms after a simulation; accuracies (r,) are ``truth``."""
        (pulls, rewards, _, skill), arms, state = self.columns, self.roster.arms, selector.state
        pulls, rewards = pulls.copy(), rewards.copy()
        pulls[arms], rewards[arms] = state.pulls, state.rewards
        room = self.roster.spread(self.questions - state.pulls, 0)
        left = max(0, self.most - self.elsewhere - int(state.pulls.sum()))
        values = self.roster.spread(truth, 0.0)
        return Tallies(self.run, rewards, pulls, skill, values, room, left)

    @property
    def most(self) -> int:
        everything = int(self.questions.sum()) + self.elsewhere
        if self.left is not None:
            everything = min(everything, int(self.pulls.sum()) + self.left + self.elsewhere)
        return everything if self.run.budget is None else min(everything, self.run.budget)


def load_live_run(run: Run) -> LiveRun | None:
    """Load the run; None if there are too few workers to choose from."""
    columns = ("pulls", "rewards", "verdict", "skill", "void", "asked", "skipped", "gone")
    rows = list(run.candidates.order_by("arm").values_list(*columns))
    if not rows:
        return None
    pulls, rewards, verdict, skill, void, asks, skipped, reasons = zip(*rows, strict=True)
    leavers = np.array([bool(reason) for reason in reasons])
    counts = np.array(pulls, np.int64)
    kinds = np.array(skill, np.int64)
    roster = Roster.build(run, kinds, leavers, counts)
    if not roster.ready(run):
        return None
    skips = np.array(void, np.int64) + np.array(skipped, np.int64)
    questions = _deck_sizes(run, skill) - skips - exposure.closed_to(run)
    if run.recorded_only:
        questions = np.array(asks, np.int64) - void + _recorded_left(run, counts.size)
    return LiveRun(
        run,
        roster,
        (counts, np.array(rewards, float), np.array(verdict, np.int8), kinds),
        np.maximum(questions, counts)[roster.arms],
        int(counts[leavers].sum()) + run.count_wasted(),
        _answers_left(run, int((np.array(asks, np.int64) - void - counts)[~leavers].sum())),
    )


def _answers_left(run: Run, open_assignments: int) -> int | None:
    """Count the answers that the question set still allows, including open assignments.

    None for several sets, because each limits some skills only.
    """
    if run.several or run.recorded_only:
        return None
    remaining = exposure.answers_left(run.question_set, run.candidates.count())
    return None if remaining is None else remaining + open_assignments


def _deck_sizes(run: Run, skill: Iterable[int]) -> Counts:
    sizes = [kind.deck_size for kind in run.skills]
    return np.array([sizes[number] for number in skill], np.int64)


def _recorded_left(run: Run, size: int) -> Counts:
    """Count (n,) recorded answers of each arm that are not used yet."""
    counts = np.zeros(size, np.int64)
    rows = RecordedAnswer.objects.askable().filter(candidate__run=run).order_by()
    for arm, many in rows.values_list("candidate__arm").annotate(many=Count("id")):
        counts[arm] = many
    return counts


# -- making forecasts


def make_forecast(run: Run, seconds: float = SECONDS) -> RunForecast:
    began = thread_time()
    forecast = RunForecast(run=run, at=db_clock.database_now(), step=run.steps)
    if reason := describe_missing_forecast(run.algorithm):
        forecast.why = reason
        return forecast
    live = None if run.enrolling else load_live_run(run)
    if live is None:
        forecast.why = OPEN if run.enrolling else FEW
        return forecast
    forecast.counted = int(live.pulls.sum()) + live.elsewhere
    if run.fixed_budget:
        forecast.low = forecast.median = forecast.high = live.most
    elif _is_early(live.pulls):
        forecast.why = EARLY
    else:
        _simulate_runs(forecast, live, seconds)
    forecast.seconds = thread_time() - began
    return forecast


def _is_early(pulls: Counts) -> bool:
    """Tell if the answers (r,) are too few for a forecast.

    Workers who never answer hold up an algorithm that works in rounds, but not its forecast.
    """
    return bool(pulls.sum() < pulls.size and (pulls > 0).mean() < TESTED)


def _simulate_runs(forecast: RunForecast, live: LiveRun, seconds: float) -> None:
    began, fitted = thread_time(), _fit_population(live)
    totals: list[int] = []
    most_per_run: list[int] = []
    cut: list[float] = []
    qualities: list[tuple[float | None, ...]] = []
    while _needs_another_run(len(totals), thread_time() - began, seconds):
        rng = np.random.default_rng([SEED, live.run.seed, live.run.steps, len(totals)])
        selector, truth = live.selector(), fitted.draw(rng)
        ending = play_to_end(selector, truth, live.questions, rng, left=live.left)
        tallies, arms = live.tallies(selector, truth), live.roster.arms[selector.selection()]
        if ending is not SimulatedEnding.GUARANTEE:
            cut.append(selector.standing().gap)
        elif pass_marks.has_mark(live.run):
            tallies.settle_marks(arms, rng)
        qualities.append(tallies.judge(arms))
        pulls = tallies.pulls[live.roster.arms]
        totals.append(int(pulls.sum()) + live.elsewhere)
        most_per_run.append(int(pulls.max()))
    forecast.runs, forecast.finished = len(totals), len(totals) - len(cut)
    forecast.low, forecast.median, forecast.high = _final_band(totals, forecast.counted, live.most)
    forecast.epsilon_at_end = min(1.0, float(np.median(cut))) if cut else None
    forecast.most = int(np.median(most_per_run))
    means, floors, passes = zip(*qualities, strict=True)
    forecast.accuracy, forecast.mean_at_least = median_of(means), median_of(floors)
    forecast.passing = median_of(passes, 0)
    if not live.run.several:
        forecast.uniform = _uniform_shortfall(live.run, fitted, forecast.most)


def _needs_another_run(runs: int, took: float, seconds: float) -> bool:
    """Tell if one more run is to be simulated.

    A band needs several, if time allows, and more are better while there is time.
    """
    return runs < RUNS and (not runs or took < (seconds if runs >= MANY else MOST_SECONDS))


def _final_band(totals: list[int], counted: int, most: int) -> tuple[int, int, int]:
    """Compute the band of the answers at the end: of those still to come, plus ``counted``.

    With too few runs for a band the median stands in all three places.
    """
    if len(totals) < MANY:
        median = round(float(np.median(totals)))
        return median, median, median
    remaining = [max(1, total - counted) for total in totals]
    low, median, high = prediction_band(remaining, max(1, most - counted), unthought=0.0)
    return counted + low, counted + median, counted + high


def _fit_population(live: LiveRun) -> FittedBelief:
    rewards, skill = live.columns[1][live.roster.arms], live.columns[3][live.roster.arms]
    return FittedBelief.fit(
        live.pulls, rewards, skill, {kind.number: kind.k for kind in live.run.skills}
    )


def _uniform_shortfall(run: Run, fitted: FittedBelief, questions: int) -> float:
    """Bound the loss of the best K by share of right answers, if all answer so many questions.

    The bound holds with probability 1 - δ.
    """
    rng, short = np.random.default_rng([SEED, run.seed, run.steps]), []
    for _ in range(UNIFORM_POOLS):
        truth = fitted.draw(rng)
        scores = rng.binomial(questions, truth) + rng.random(truth.size) / 2  # random order of ties
        chosen = np.argsort(scores)[-run.k :]
        short.append(np.sort(truth)[-run.k :].mean() - truth[chosen].mean())
    return float(np.quantile(short, 1 - run.delta))


# -- keeping them fresh


def refresh_forecast(run_id: int) -> None:
    """Make and store this run's forecast, if it goes on and moved since the last one.

    The last one must be old: late messages come several at a time.
    """
    with suppress(Exception):  # without Redis the key expires
        mark_received(TASK, run_id)
    run = Run.objects.running().filter(pk=run_id).first()
    new = Q(at__gt=db_clock.database_now() - EVERY, why="")
    if run is None or RunForecast.objects.filter(Q(step=run.steps) | new, run=run).exists():
        return
    forecast = make_forecast(run)
    fields = [field.attname for field in RunForecast._meta.concrete_fields if not field.primary_key]
    values = {name: getattr(forecast, name) for name in fields}
    RunForecast.objects.update_or_create(run_id=run_id, defaults=values)


def due_forecasts() -> list[int]:
    """List the runs with the oldest forecasts, of those that moved since; at most AT_ONCE."""
    now = db_clock.database_now()
    runs = Run.objects.running().filter(steps__gt=0)
    stale = runs.filter(Q(forecast=None) | ~Q(forecast__step=F("steps")))
    oldest = stale.order_by(F("forecast__at").asc(nulls_first=True), "pk")
    columns = ("pk", "forecast__at", "forecast__seconds", "forecast__why")
    rows = oldest.values_list(*columns)
    # A forecast without numbers cost nothing: it is made again as soon as the run moves.
    wait = [(pk, at and not reason and at + _pause(took)) for pk, at, took, reason in rows]
    return [pk for pk, until in wait if not until or until < now][:AT_ONCE]


def _pause(took: float) -> timedelta:
    """Choose the least time between two forecasts of a run; ``took`` is in seconds."""
    return max(EVERY, timedelta(seconds=took / SHARE))


def sweep_run_forecasts() -> None:
    """Request the forecasts that are due; if Redis is unreachable, the next sweep tries again.

    A run has at most one message on its way.
    """
    for run_id in due_forecasts():
        how = {"expires": EXPIRES, "priority": BACKGROUND}
        send_once(TASK, run_id, seconds=EXPIRES, **how)
