"""A recorded crowd played in arrays, without a database: as the engine plays it, and much faster.

Whom the engine would ask, which recorded answer it would get, and what it would say at the end:
all is the same for the same seed, so a replay of that seed shows how any of these plays came about.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from selection.engine import deck
from selection.models import Run, plain
from selection.reports import order_doubt
from topk import BUDGET_SPENT, PROMISE_KEPT, THIS_SET, Goal, Selector

from .crowd import RecordedCrowd, number_of
from .replay import Regrets, Wanted, most_draws, regrets, settings, slots_of

Counts = NDArray[np.int64]
UNLIMITED = int(np.iinfo(np.int64).max)
QUESTIONS, NOWHERE = "questions", ""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Played:
    """answers  counted in all
    ending   promise, budget or questions; empty where it waits for what never comes
    epsilon  that its promise holds for at the end; None: it promises nothing
    regrets  what the selection really loses, by the recorded accuracies
    true     whether the promise for this epsilon is true by them; None without a promise
    doubts   what makes the promise doubtful, in sentences
    """

    seed: int
    answers: int
    ending: str
    epsilon: float | None
    regrets: Regrets
    true: bool | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """A crowd's answers as arrays: (a,) worker, question and whether it was right, in file order.

    Workers are numbered as the file names them, questions as the gold file does.
    """

    crowd: RecordedCrowd

    @cached_property
    def _rows(self) -> tuple[Counts, Counts, NDArray[np.bool_]]:
        worker = {key: i for i, key in enumerate(self.crowd.workers)}
        number = {key: i for i, key in enumerate(self.crowd.gold)}
        known = {key: plain(label) for key, label in self.crowd.gold.items()}
        rows = [
            (worker[row.worker], number[row.question], plain(row.response) == known[row.question])
            for row in self.crowd.answers
        ]
        workers, questions, right = np.array(rows, np.int64).T
        return workers, questions, right.astype(bool)

    @cached_property
    def numbers(self) -> NDArray[np.uint64]:
        """(n,) the number that each worker's draws depend on."""
        return np.array([number_of(key) for key in self.crowd.workers], np.uint64)

    def once(self, seed: int, place: Counts) -> "Hand":
        """Each recorded answer once, in the order in which a run of this seed asks for it.

        place  (n,) the arm of each worker
        """
        workers, questions, right = self._rows
        arms = place[workers]
        order = np.lexsort((deck.ranks(seed, arms, questions), arms))
        return Hand(right[order], np.bincount(arms, minlength=place.size))

    def redrawn(self, seed: int, place: Counts, most: int) -> "Hand":
        """Draws from each worker's recorded answers, at most so many, as ``replay`` draws them."""
        workers, _, right = self._rows
        arms = place[workers]
        order = np.argsort(arms, kind="stable")
        sizes, numbers = np.bincount(arms, minlength=place.size), np.empty_like(self.numbers)
        numbers[place] = self.numbers
        return Redrawn(right[order], sizes, seed, numbers, most)


@dataclass
class Hand:
    """What the arms answer: ``right`` is (a,), arm by arm; ``sizes`` (n,) how many are an arm's."""

    right: NDArray[np.bool_]
    sizes: Counts

    def __post_init__(self) -> None:
        self.first = np.cumsum(self.sizes) - self.sizes

    @property
    def room(self) -> Counts:
        return self.sizes

    def grade(self, arms: Counts, positions: Counts) -> NDArray[np.bool_]:
        """(m,) whether the answers of these arms at these positions are right."""
        found: NDArray[np.bool_] = self.right[self.first[arms] + positions]
        return found


@dataclass
class Redrawn(Hand):
    seed: int
    numbers: NDArray[np.uint64]
    most: int

    @property
    def room(self) -> Counts:
        return np.full_like(self.sizes, self.most)

    def grade(self, arms: Counts, positions: Counts) -> NDArray[np.bool_]:
        keys = deck.ranks(self.seed, self.numbers[arms], positions)
        drawn: Counts = (keys % self.sizes[arms].astype(np.uint64)).astype(np.int64)
        return super().grade(arms, drawn)


def play(record: Record, wanted: Wanted) -> Played:
    """These settings on this crowd to the end; ``replay.check`` says whether they can be."""
    crowd, n = record.crowd, len(record.crowd.workers)
    run = Run(**settings(wanted), deck_size=len(crowd.gold), slots=slots_of(crowd, wanted))
    place = np.random.default_rng(wanted.seed).permutation(n)
    hand = (
        record.redrawn(wanted.seed, place, most_draws(wanted, n))
        if wanted.redraw
        else record.once(wanted.seed, place)
    )
    playing = Playing(run, run.selector(n), hand)
    ending = playing.to_the_end()
    chosen = np.argsort(place)[playing.named(ending)]
    names = [crowd.workers[i] for i in chosen.tolist()]
    said = _said(playing, ending, regrets(crowd.accuracy, names))
    partial = run.options.get("accuracy") == THIS_SET and (hand.sizes < len(crowd.gold)).any()
    own = playing.selector.warnings()
    return replace(said, doubts=(*own, order_doubt(len(crowd.gold))) if partial else own)


@dataclass
class Playing:
    """asked, told  (n,) by arm, answers asked for and counted
    proved       the least epsilon that was proved so far, and for whom
    """

    run: Run
    selector: Selector
    hand: Hand
    steps: int = 0
    proved: tuple[float, Counts | None] = (1.0, None)
    asked: Counts = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        self.asked = np.zeros(self.selector.problem.n, np.int64)
        self.told = self.asked.copy()

    def to_the_end(self) -> str:
        """Why it ended. Each turn is a step of the engine, which counts before it asks."""
        while True:
            counted = self._tell()
            reasons = self.selector.stop()
            counts = np.zeros_like(self.asked) if reasons else self._ask()
            ending = _ending(reasons) if reasons or counts.any() else self._stuck()
            if not (counted or counts.any() or ending):
                return NOWHERE
            self._remember()
            self.asked = self.asked + counts
            self.steps += 1
            if ending:
                return ending

    def _tell(self) -> bool:
        """Count what is in, as far as the algorithm takes it; whether that was anything."""
        counted = False
        while (given := np.minimum(self.asked - self.told, self.selector.takes())).any():
            arms = np.repeat(np.arange(given.size), given)
            turn = np.arange(arms.size) - np.repeat(np.cumsum(given) - given, given)
            self.selector.tell(arms, self.hand.grade(arms, self.told[arms] + turn))
            self.told = self.told + given
            counted = True
        return counted

    def _ask(self) -> Counts:
        left = self.hand.room - self.asked
        return self.selector.ask(
            slots=min(self.run.slots, self._budget_left()),
            pending=self.asked - self.told,
            room=np.minimum(left, self.run.slots),
            rng=self._rng(),
        )

    def _stuck(self) -> str:
        if (self.asked > self.told).any():
            return NOWHERE
        if self._budget_left() <= 0:
            return BUDGET_SPENT
        room = self.hand.room - self.asked
        return NOWHERE if self.selector.ask(room=room, rng=self._rng()).any() else QUESTIONS

    def _budget_left(self) -> int:
        if self.run.budget is None:
            return UNLIMITED
        return self.run.budget - int(self.asked.sum())

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.run.seed, self.steps])

    def _remember(self) -> None:
        """What was proved stays so; what holds on average changes with every answer."""
        promise = self.selector.promise
        if promise.average or promise.fixed != "confidence":
            return
        gap = self.selector.standing().gap
        if gap < self.proved[0]:
            self.proved = gap, self.selector.selection()

    def named(self, ending: str) -> Counts:
        """(k,) the arms selected: at an early end those for whom most was proved."""
        finished = ending == PROMISE_KEPT or (self.run.fixed_budget and ending == BUDGET_SPENT)
        proved = self.proved[1]
        return self.selector.selection() if finished or proved is None else proved

    def epsilon(self, ending: str) -> float | None:
        """As a run states it."""
        if not bounds(self.selector, ending == PROMISE_KEPT):
            return None
        if ending == PROMISE_KEPT:
            exact = self.selector.promise.goal is Goal.EXACT
            return 0.0 if exact else self.run.epsilon
        average = self.selector.promise.average
        gap = self.selector.standing().gap if average else self.proved[0]
        return None if gap >= 1 else float(np.ceil(gap * 1000) / 1000)


def bounds(selector: Selector, kept: bool) -> bool:
    """Whether it promises anything: where it stopped by itself, or else by its gap."""
    return goal(selector, kept) is not Goal.NONE and selector.promise.fixed == "confidence"


def goal(selector: Selector, kept: bool) -> Goal:
    """What its promise is about: one of the exact best bounds something else before its stop."""
    promise = selector.promise
    return promise.early if promise.goal is Goal.EXACT and not kept else promise.goal


def _ending(reasons: tuple[str, ...]) -> str:
    return reasons[-1] if reasons else NOWHERE


def _said(playing: Playing, ending: str, lost: Regrets) -> Played:
    epsilon = playing.epsilon(ending)
    judged = goal(playing.selector, ending == PROMISE_KEPT)
    off = lost.explore_k if judged is Goal.EXPLORE_K else lost.aggregate
    true = None if epsilon is None else off <= epsilon + ROUNDING
    return Played(playing.run.seed, int(playing.told.sum()), ending, epsilon, lost, true)
