"""A simulated run with events, counted as the app counts.

Workers who never come, slow and lost answers, keys that are corrected, workers who leave or are
withdrawn, a raised budget, a relaxed ε: packages/topk/docs/absence.md has their effects on the
guarantee.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.cells import Floats
from topk import GUARANTEE_KEPT, SELECTORS, Goal, Problem, build_selector
from topk.roster import plan_options

from .latency import CrowdLatency
from .relabelled import WRONG_GOLD, RelabelledAssignments
from .rows import goal_of

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

SLOW_AND_LOST = CrowdLatency("slow and lost", slow=0.2, lost=0.05)
NEVER = 0.3  # share of workers who never answer
FIRST = 5  # answers after which some leave
AT_ONCE = 60
RELAXED = 1.25  # factor of ε
PLAIN = "as they come"
LIVES = (PLAIN, "bad ones leave", "good ones leave", "retired after a look")


@dataclass
class EventStudy:
    """One run. All arrays are (n,), by worker.

    here     True for workers on the roster
    came     True for workers who answer at all
    budget   most assignments
    """

    algorithm: str
    truth: Floats
    k: int
    epsilon: float
    delta: float
    life: str
    rng: np.random.Generator
    budget: int = 0
    events: list[tuple[int, Callable[["EventStudy"], None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = self.truth.size
        self.desk = RelabelledAssignments(self.truth, SLOW_AND_LOST, self.rng)
        self.here = np.ones(n, bool)
        self.came = np.ones(n, bool)
        self.came[self.rng.permutation(n)[: int(NEVER * n)]] = False
        self.budget = 7 * n
        self.events = sorted(
            _event_calendar(n, self.rng, self.life, ~self.came), key=lambda each: each[0]
        )
        self.reopened = 0
        self.recount()

    # -- counting, as in the app

    @property
    def share(self) -> float:
        """The share of δ for the workers on the roster: selection.models.roster.Roster."""
        leavers = (~self.here & (self.desk.pulls > 0)).sum()
        return float(self.here.sum() / (self.here.sum() + leavers))

    def recount(self) -> None:
        """Build the algorithm for the roster and tell it every counted answer again."""
        self.arms = np.flatnonzero(self.here)
        limits = (self.epsilon, self.delta * self.share)
        options = plan_options(SELECTORS[self.algorithm], self.here.size, self.arms.size)
        problem = Problem(self.arms.size, self.k, *limits)
        self.selector = build_selector(self.algorithm, problem, **options)
        self.told = np.zeros(self.truth.size, np.int64)
        self.tell()

    def tell(self) -> None:
        """Tell counted answers that were not told yet, as far as the algorithm takes them."""
        while True:
            lacking = self.desk.pulls[self.arms] - self.told[self.arms]
            counts = np.minimum(lacking, self.selector.takes())
            if not counts.any():
                break
            own = np.flatnonzero(counts)
            arms = self.arms[own].tolist()
            rows = [
                self.desk.right(arm, int(self.told[arm]), int(count))
                for arm, count in zip(arms, counts[own], strict=True)
            ]
            rewards = np.concatenate(rows)
            self.selector.tell(np.repeat(own, [row.size for row in rows]), rewards)
            self.told[self.arms[own]] += counts[own]
        waiting = self.desk.pulls - self.told
        self.selector.wait_for((self.desk.pending + waiting)[self.arms])

    def ask(self) -> bool:
        """Give the assignments that the algorithm asks for; return True if there are any."""
        out = self.desk.pending
        free = min(AT_ONCE - int(out[self.arms].sum()), self.budget - self.desk.handed)
        if free <= 0:
            return False
        waiting = self.desk.pulls - self.told
        room = np.where(self.came, self.desk.room, 0)
        counts = self.selector.ask(free, (out + waiting)[self.arms], room[self.arms], self.rng)
        plan = np.zeros_like(out)
        plan[self.arms] = counts
        self.desk.give(plan)
        return bool(counts.any())

    def leave(self, workers: Any) -> None:
        """Withdraw these workers, as long as more than K + 2 remain."""
        for worker in np.atleast_1d(workers):
            enough = (self.here & self.came).sum() > self.k + 2
            if self.here[worker] and (enough or not self.came[worker]):
                self.here[worker] = False
                self.desk.drop(int(worker))
        self.recount()

    # -- from the start to the end

    def run(self, cap: int) -> "StudyResult":
        while self.desk.pulls.sum() < cap:
            if self.selector.stop():
                if not self.events:
                    return self._finish_study(ended=True)
                self._next_answer()  # the requester finds the errors at the end
                self.reopened += not self.selector.stop()
                continue
            while self.events and self.desk.pulls.sum() >= self.events[0][0]:
                self._next_answer()
            if self.desk.handed > 0.9 * self.budget:
                self.budget *= 10  # raised before it is spent
            deals = self.ask()
            if self.desk.pending[self.arms].any():
                self.desk.count()
                self.tell()
                self._withdraw_by_first_answers()
            elif not deals and self.events:
                self._next_answer()
            elif not deals:
                return self._finish_study(ended=True)  # an event may have brought the end
        return self._finish_study(ended=False)

    def _next_answer(self) -> None:
        self.events.pop(0)[1](self)

    def _withdraw_by_first_answers(self) -> None:
        """Withdraw workers because of their first answers."""
        if self.life not in LIVES[1:3]:
            return
        for worker in np.flatnonzero(self.here & (self.desk.pulls >= FIRST) & ~self.desk.stays):
            self.desk.stays[worker] = True  # asked once
            score = self.desk.right(int(worker), 0, FIRST).sum()
            bad = score <= FIRST // 2
            if (bad if self.life == LIVES[1] else score == FIRST) and self.rng.random() < 0.7:
                self.leave(worker)

    def _finish_study(self, ended: bool) -> "StudyResult":
        """Return the result: the final statement, judged for the workers on the roster."""
        means = SLOW_AND_LOST.in_time(self.truth)[self.arms]
        goal, reached = goal_of(self.algorithm), self.epsilon
        if ended:
            ended = GUARANTEE_KEPT in self.selector.stop()
        if not ended:
            early = self.selector.guarantee.early
            goal = early if early is not Goal.NONE else goal
            reached = self.selector.standing().gap
        regret = _regret_for_goal(means, self.selector.selection(), goal)
        allowed = 1e-9 + (0.0 if goal is Goal.EXACT else reached)
        return StudyResult(ended, regret > allowed, self.desk.handed, self.arms.size, self.reopened)


@dataclass(frozen=True)
class StudyResult:
    """ended     True if it reached its guarantee, False if it was given up at the cap
    false     True if its final statement is wrong: the guarantee, or the ε reached
    answers   assignments in all
    stayed    workers on the roster
    reopened  number of stops after which a correction reopened it.
    """

    ended: bool
    false: bool
    answers: int
    stayed: int
    reopened: int


def _regret_for_goal(means: Floats, chosen: Counts, goal: Goal) -> float:
    best, own = np.sort(means)[-chosen.size :], means[chosen]
    return float(best[0] - own.min() if goal is Goal.EXPLORE_K else best.mean() - own.mean())


# -- events


def _event_calendar(
    n: int, rng: np.random.Generator, life: str, absent: Flags
) -> Iterator[tuple[int, Callable[[EventStudy], None]]]:
    """Yield (number of counted answers, event)."""
    for worker in np.flatnonzero(absent).tolist():
        yield int(rng.uniform(1, 5) * n), partial(_withdraw_worker, worker)
    if life in (PLAIN, LIVES[3]):
        yield 3 * n, _withdraw_any
        yield 4 * n, _withdraw_the_worst
    yield 6 * n, _retire_gold if life == LIVES[3] else _correct_gold
    yield 8 * n, _relax_epsilon


def _withdraw_worker(worker: int, study: EventStudy) -> None:
    study.leave(worker)


def _withdraw_any(study: EventStudy) -> None:
    study.leave(study.rng.choice(np.flatnonzero(study.here & study.came)))


def _withdraw_the_worst(study: EventStudy) -> None:
    answered = study.arms[study.desk.pulls[study.arms] > 0]
    means = [
        study.desk.right(arm, 0, int(study.desk.pulls[arm])).mean() for arm in answered.tolist()
    ]
    study.leave(answered[int(np.argmin(means))])


def _correct_gold(study: EventStudy) -> None:
    study.desk.corrected = True
    study.recount()


def _retire_gold(study: EventStudy) -> None:
    _correct_gold(study)
    study.desk.retire(WRONG_GOLD)
    study.recount()


def _relax_epsilon(study: EventStudy) -> None:
    study.epsilon *= RELAXED
    study.recount()


def play_study(
    algorithm: str, means: Floats, life: str, cap: int, seed: int, **asked: Any
) -> StudyResult:
    """Return the result of one run, on workers of these accuracies."""
    rng = np.random.default_rng(seed)
    return EventStudy(algorithm, rng.permutation(means), life=life, rng=rng, **asked).run(cap)
