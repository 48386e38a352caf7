"""The ask/tell machine that every algorithm is: whom to test next, and when to stop.

Arms are told apart by number only. Whoever numbers them does so at random, once a run: ties are
broken by number, and instances are often built with the best arms first.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .allocate import level
from .problem import Problem
from .promise import Promise
from .state import State, Verdict

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

PROMISE_KEPT = "promise"
BUDGET_SPENT = "budget"
UNLIMITED = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Event:
    """What settled an arm: its number, the Verdict, and the reason in words."""

    arm: int
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class Standing:
    """Where every arm stands. Arrays are (n,).

    mean, lower, upper  in [0, 1]; mean is nan without an answer
    verdict             a Verdict each, as final as the run is
    settled             a Verdict each, by the algorithm's bounds as they are now: an arm that is
                        certainly among the best k, certainly not, or neither
    gap, wanted         the algorithm stops when gap falls to wanted; gap is also the epsilon that
                        its promise holds for by now
    """

    mean: Floats
    lower: Floats
    upper: Floats
    verdict: NDArray[np.int8]
    settled: NDArray[np.int8]
    gap: float
    wanted: float


class Selector(ABC):
    """Resumable by construction: all it knows is its problem, its options and a State."""

    name: ClassVar[str]
    title: ClassVar[str]
    promise: ClassVar[Promise]

    def __init__(self, problem: Problem, state: State | None = None) -> None:
        self.problem = problem
        self.state = state if state is not None else State.fresh(problem.n)
        self.events: list[Event] = []

    # -- observing

    def tell(self, arms: ArrayLike, rewards: ArrayLike, pulls: ArrayLike = 1) -> None:
        """Count rewards, each in [0, 1], of these arms; an arm may be named any number of times.

        arms     (m,) arm numbers
        rewards  (m,) one reward each, or the sum over ``pulls`` pulls of the arm
        pulls    how many pulls each entry stands for

        The state afterwards does not depend on how the answers were batched or ordered.
        Raises ValueError for an arm that does not exist or a reward out of range.
        """
        arms, rewards = np.asarray(arms, np.int64), np.asarray(rewards, np.float64)
        pulls = np.broadcast_to(np.asarray(pulls, np.int64), arms.shape)
        if arms.size and (arms.min() < 0 or arms.max() >= self.problem.n):
            raise ValueError(f"Arms are numbered 0 to {self.problem.n - 1}.")
        if (rewards < 0).any() or (rewards > pulls).any():
            raise ValueError("A reward lies in 0 to 1.")
        n = self.problem.n
        self._count(
            np.bincount(arms, pulls, n).astype(np.int64),
            np.bincount(arms, rewards, n).astype(np.float64),
        )

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        self.state.pulls += pulls
        self.state.rewards += rewards

    @property
    def means(self) -> Floats:
        """(n,) empirical means; nan where an arm has no pull."""
        with np.errstate(invalid="ignore"):
            return self.state.rewards / self.state.pulls

    # -- choosing

    def ask(
        self,
        slots: int | None = None,
        pending: ArrayLike | None = None,
        room: ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> Counts:
        """How many more pulls each arm should get now; changes nothing.

        slots    most pulls to ask for in all; None asks what the paper would pull next
        pending  (n,) pulls that are out already: they count as made for choosing, never for judging
        room     (n,) most pulls each arm may still be asked, beyond the pending ones
        rng      where an algorithm that flips coins gets them

        Returns int64 (n,), each between 0 and its room, the sum within slots and budget.
        """
        n = self.problem.n
        out = np.zeros(n, np.int64) if pending is None else np.asarray(pending, np.int64)
        free = np.full(n, UNLIMITED) if room is None else np.asarray(room, np.int64)
        free = np.where(self.state.verdict == Verdict.UNDECIDED, free, 0)
        most = min(UNLIMITED if slots is None else slots, self._budget_left(out))
        if most <= 0 or self.stop():
            return np.zeros(n, np.int64)
        wanted = self._ask(None if slots is None else most, out, free, rng)
        return level(wanted, most)

    @abstractmethod
    def _ask(
        self,
        slots: int | None,
        pending: Counts,
        room: Counts,
        rng: np.random.Generator | None,
    ) -> Counts:
        """As ``ask``, with budget and verdicts seen to: room is 0 where an arm is decided."""

    def _budget_left(self, pending: Counts) -> int:
        if self.problem.budget is None:
            return UNLIMITED
        return self.problem.budget - int(self.state.pulls.sum()) - int(pending.sum())

    # -- judging

    def stop(self) -> tuple[str, ...]:
        """Why to stop, or an empty tuple to go on."""
        if self._done():
            return (PROMISE_KEPT,)
        if self._budget_left(np.zeros(1, np.int64)) <= 0:
            return (BUDGET_SPENT,)
        return ()

    @abstractmethod
    def _done(self) -> bool:
        """Whether the promise holds."""

    @abstractmethod
    def selection(self) -> Counts:
        """The k arms it would name now, in rising order."""

    @abstractmethod
    def standing(self) -> Standing:
        """Where every arm stands."""

    def _final(self) -> NDArray[np.int8]:
        """(n,) verdicts: all decided once the promise holds, the state's own until then."""
        if not self._done():
            return self.state.verdict
        verdict = np.full(self.problem.n, Verdict.REJECTED, np.int8)
        verdict[self.selection()] = Verdict.ACCEPTED
        return verdict
