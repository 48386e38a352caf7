"""What a run that is going on will still take: simulated on from its own state, now and then.

Made by Celery and stored, never in a request: pages, lists and the API read what is stored.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from time import thread_time

import numpy as np
from celery import current_app
from django.db.models import Count, F, Q
from django.utils import timezone
from numpy.typing import NDArray

from selection.models import Outlook, RecordedAnswer, Run, exposure
from selection.models.roster import Roster
from topk import Selector

from .bands import MANY, prediction_band
from .fitted import Counts, FittedBelief
from .simulations import SimulatedEnding, play_to_end

TASK = "selection.tasks.outlook"
SECONDS, RUNS = 2.0, 40  # of processor time for one outlook, about, and runs at most
MOST_SECONDS = 20.0  # of processor time, where a band has too few runs after SECONDS
TESTED = 0.5  # of the workers have answered before a run is played on
EVERY = timedelta(seconds=60)  # at least between two of one run,
SHARE = 0.05  # of the time, at most, goes into those of one run
AT_ONCE = 4  # handed out by one sweep: those that are oldest
EXPIRES = 180  # seconds after which a message that nobody took says nothing any more
SEED = 21
UNIFORM_POOLS = 200  # on which a test of everybody is tried

EARLY = "Too early to say: fewer than half of the workers have answered."
FEW = "Nothing to forecast: there are no more workers left than are to be selected."
OPEN = "Too early to say: the roster is open, and workers may still join."


@dataclass(frozen=True)
class LiveRun:
    """A run as it stands, to be played on any number of times. Arrays are by the roster's arms.

    questions  (r,) answers that each arm can have given in the end at most
    elsewhere  answers that are paid and count for nobody here: of workers who are gone, and of
               questions that were retired
    left       answers that all can still give together, where the questions limit that
    """

    run: Run
    roster: Roster
    columns: tuple[Counts, NDArray[np.float64], NDArray[np.int8]]
    questions: Counts
    skill: Counts
    elsewhere: int
    left: int | None = None

    def selector(self) -> Selector:
        """As it stands, a new one each time."""
        state = self.roster.state(*self.columns, copy.deepcopy(self.run.memory))
        return self.roster.selector(self.run, state)

    @property
    def pulls(self) -> Counts:
        return self.columns[0][self.roster.arms]

    @property
    def most(self) -> int:
        """Answers there can be in all."""
        everything = int(self.questions.sum()) + self.elsewhere
        if self.left is not None:
            everything = min(everything, int(self.pulls.sum()) + self.left + self.elsewhere)
        return everything if self.run.budget is None else min(everything, self.run.budget)


def load_live_run(run: Run) -> LiveRun | None:
    """None while there are too few workers to choose from, or none."""
    columns = ("pulls", "rewards", "verdict", "skill", "void", "asked", "skipped", "gone")
    rows = list(run.candidates.order_by("arm").values_list(*columns))
    if not rows:
        return None
    pulls, rewards, verdict, skill, void, asked, skipped, gone_ = zip(*rows, strict=True)
    gone = np.array([bool(why) for why in gone_])
    counts = np.array(pulls, np.int64)
    roster = Roster.build(run, np.array(skill, np.int64), gone, counts)
    if not roster.ready(run):
        return None
    passed_over = np.array(void, np.int64) + np.array(skipped, np.int64)
    questions = _deck_sizes(run, skill) - passed_over - exposure.closed_to(run)
    if run.recorded_only:
        questions = np.array(asked, np.int64) - void + _recorded_left(run, counts.size)
    return LiveRun(
        run,
        roster,
        (counts, np.array(rewards, float), np.array(verdict, np.int8)),
        np.maximum(questions, counts)[roster.arms],
        np.array(skill, np.int64)[roster.arms],
        int(counts[gone].sum()) + run.count_wasted(),
        _budget_left(run, int((np.array(asked, np.int64) - void - counts)[~gone].sum())),
    )


def _budget_left(run: Run, out: int) -> int | None:
    """Those that are out are theirs already. Of several sets each has to do with some only."""
    if run.several or run.recorded_only:
        return None
    found = exposure.answers_left(run.question_set, run.candidates.count())
    return None if found is None else found + out


def _deck_sizes(run: Run, skill: Iterable[int]) -> Counts:
    sizes = [one.deck_size for one in run.skills]
    return np.array([sizes[number] for number in skill], np.int64)


def _recorded_left(run: Run, size: int) -> Counts:
    """(n,) recorded answers of each that are not used yet."""
    found = np.zeros(size, np.int64)
    rows = RecordedAnswer.objects.askable().filter(candidate__run=run).order_by()
    for arm, many in rows.values_list("candidate__arm").annotate(many=Count("id")):
        found[arm] = many
    return found


# -- making one


def make_outlook(run: Run, seconds: float = SECONDS) -> Outlook:
    """The run's outlook by now, not stored."""
    began = thread_time()
    made = Outlook(run=run, at=timezone.now(), step=run.steps)
    now = None if run.enrolling else load_live_run(run)
    if now is None:
        made.why = OPEN if run.enrolling else FEW
        return made
    made.counted = int(now.pulls.sum()) + now.elsewhere
    if run.fixed_budget:
        made.low = made.median = made.high = now.most
        made.kept = float(now.most == run.budget)
    elif _is_early(now.pulls):
        made.why = EARLY
    else:
        _simulate_runs(made, now, seconds)
    made.seconds = thread_time() - began
    return made


def _is_early(pulls: Counts) -> bool:
    """Return whether the answers (r,) say too little of the crowd. Workers who never answer hold
    up an algorithm that works in rounds; they do not hold up its forecast."""
    return bool(pulls.sum() < pulls.size and (pulls > 0).mean() < TESTED)


def _simulate_runs(made: Outlook, now: LiveRun, seconds: float) -> None:
    began, fitted = thread_time(), _fit_population(now)
    totals: list[int] = []
    asked: list[int] = []
    cut: list[float] = []
    while _goes_on(len(totals), thread_time() - began, seconds):
        rng = np.random.default_rng([SEED, now.run.seed, now.run.steps, len(totals)])
        selector, truth = now.selector(), fitted.draw(rng)
        ending = play_to_end(selector, truth, now.questions, rng, left=now.left)
        totals.append(int(selector.state.pulls.sum()) + now.elsewhere)
        asked.append(int(selector.state.pulls.max()))
        if ending is not SimulatedEnding.PROMISE:
            cut.append(selector.standing().gap)
    made.runs, made.kept = len(totals), 1 - len(cut) / len(totals)
    made.low, made.median, made.high = _final_band(totals, made.counted, now.most)
    made.epsilon = min(1.0, float(np.median(cut))) if cut else None
    made.most = int(np.median(asked))
    if not now.run.several:
        made.uniform = _uniform_shortfall(now.run, fitted, made.most)


def _goes_on(runs: int, took: float, seconds: float) -> bool:
    """Return whether to simulate one more run: until there are enough for a band, if that does not
    take too long, and more of them while there is time."""
    return runs < RUNS and (not runs or took < (seconds if runs >= MANY else MOST_SECONDS))


def _final_band(totals: list[int], counted: int, most: int) -> tuple[int, int, int]:
    """Of the answers at the end: of what is still to come, added to what is there. Too few runs
    make no band: the median stands in all three places."""
    if len(totals) < MANY:
        median = round(float(np.median(totals)))
        return median, median, median
    left = [max(1, total - counted) for total in totals]
    low, median, high = prediction_band(left, max(1, most - counted), unthought=0.0)
    return counted + low, counted + median, counted + high


def _fit_population(now: LiveRun) -> FittedBelief:
    pulls, rewards = now.pulls, now.columns[1][now.roster.arms]
    return FittedBelief.of(pulls, rewards, now.skill, {one.number: one.k for one in now.run.skills})


def _uniform_shortfall(run: Run, fitted: FittedBelief, questions: int) -> float:
    """What the best K by share of right answers are short of the best with probability 1 - δ, if
    everybody answers so many questions."""
    rng, short = np.random.default_rng([SEED, run.seed, run.steps]), []
    for _ in range(UNIFORM_POOLS):
        truth = fitted.draw(rng)
        right = rng.binomial(questions, truth) + rng.random(truth.size) / 2  # ties by lot
        chosen = np.argsort(right)[-run.k :]
        short.append(np.sort(truth)[-run.k :].mean() - truth[chosen].mean())
    return float(np.quantile(short, 1 - run.delta))


# -- keeping them fresh


def refresh_outlook(run_id: int) -> None:
    """Make and store this run's outlook, if it goes on and moved since the last one, which must
    not be new either: messages that waited for long come several at a time."""
    run = Run.objects.running().filter(pk=run_id).first()
    new = Q(at__gt=timezone.now() - EVERY, why="")
    if run is None or Outlook.objects.filter(Q(step=run.steps) | new, run=run).exists():
        return
    made = make_outlook(run)
    fields = [field.attname for field in Outlook._meta.concrete_fields if not field.primary_key]
    values = {name: getattr(made, name) for name in fields}
    Outlook.objects.update_or_create(run_id=run_id, defaults=values)


def due_outlooks() -> list[int]:
    """The runs whose outlook is oldest, of those that moved since; never more than a few."""
    now = timezone.now()
    runs = Run.objects.running().filter(steps__gt=0)
    stale = runs.filter(Q(outlook=None) | ~Q(outlook__step=F("steps")))
    oldest = stale.order_by(F("outlook__at").asc(nulls_first=True), "pk")
    columns = ("pk", "outlook__at", "outlook__seconds", "outlook__why")
    rows = oldest.values_list(*columns)
    # One that says nothing yet cost nothing: it is made again as soon as the run moved.
    wait = [(pk, at and not why and at + _pause(took)) for pk, at, took, why in rows]
    return [pk for pk, until in wait if not until or until < now][:AT_ONCE]


def _pause(took: float) -> timedelta:
    """Return the least time between two outlooks of a run; ``took`` is in seconds."""
    return max(EVERY, timedelta(seconds=took / SHARE))


def sweep_outlooks() -> None:
    """Have those made that are due; where Redis is away, another time."""
    for run_id in due_outlooks():
        current_app.send_task(TASK, [run_id], retry=False, ignore_result=True, expires=EXPIRES)
