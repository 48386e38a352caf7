"""The ask/tell interface of every algorithm: which arms to test next, and when to stop.

Arms are distinguished by number only. The caller numbers them at random, once a run: ties are
broken by number, and instances are often built with the best arms first.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .accuracy import questions_of
from .best_sets import top_arms
from .guarantee import Doubt, Guarantee
from .options import Option
from .options import settle_options as settle_options
from .population_summary import PopulationSummary
from .prices import PRICES, relative_prices
from .problem import Problem, ProblemError
from .rewards import draw_rewards
from .state import State, Verdict
from .water_filling import fill_level

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

GUARANTEE_KEPT = "guarantee"
BUDGET_SPENT = "budget"
UNLIMITED = int(np.iinfo(np.int64).max)
TOGETHER = (
    "confidence bounds at all times at once: the upper ones hold for all who are among the best, "
    "and the lower ones for all others"
)


@dataclass(frozen=True)
class Event:
    """The decision on an arm: its number, the Verdict, and the reason in words."""

    arm: int
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class Standing:
    """The standing of every arm. Arrays are (n,).

    mean, lower, upper  in [0, 1]; mean is nan without an answer
    verdict             a Verdict each, as final as the run is
    settled             a Verdict each, by the algorithm's present bounds: an arm that is certainly
                        among the best k, certainly not, or neither
    gap, wanted         the algorithm stops when gap falls to wanted; gap is also the epsilon for
                        which its guarantee holds now
    round_done          for algorithms whose gap halves at the end of a round at the earliest: the
                        share of the present round's answers that are in
    """

    mean: Floats
    lower: Floats
    upper: Floats
    verdict: NDArray[np.int8]
    settled: NDArray[np.int8]
    gap: float
    wanted: float
    round_done: float = 0.0

    @property
    def closed(self) -> float:
        """The share of the way to the stop that is done, 0 to 1: an estimate, to show progress.

        Radii shrink with the root of the answers, so it is the square of the gaps' ratio.
        """
        gap = self.gap * math.pow(2, -self.round_done)
        return min(1.0, (max(self.wanted, 0.01) / max(gap, 0.01)) ** 2)


class Selector(ABC):
    """Base of all algorithms; resumable, because its state is its problem, its options and a State.

    needs           which of "epsilon", "delta", "budget" it uses; all use n and k
    known_options   further settings, as keyword arguments
    epsilon_moves   True if ε may be changed during a run: bounds proved from the answers are the
                    same for every ε, which only says when to stop and at most which arm to ask next
    open_roster     True if arms may join during a run
    in_rounds       True if it decides arms when a round is complete, and not only at its end
    path_dependent  True if its memory depends on how answers were batched, not on their sum alone
    keeps_quotas    True if it can keep to least and greatest numbers of each group
    several_skills  True if it shares one budget among several problems, and is for nothing else
    takes_skills    True if it can select given numbers for each of several problems
    matches         True if it can then keep each worker to at most one of them
    weighs_out      True if outstanding answers count at their worst when it judges
    weighs_start    True if its weights are those of the roster of the start: options planned_for,
                    asked_open and joined_late
    roster_fixed    True if its guarantee is lost if workers join after the first answers
    covers_leavers  True if its guarantee covers workers who leave because of their answers
    says_accuracy   True if the meaning of accuracy may be chosen
    takes_scores    True if its guarantee also covers independent rewards between 0 and 1
    common_order    True if all arms meet the same questions in one order, so that answers are told
                    one by one
    takes_mark      True if it selects by a pass mark, its option, at most k arms
    questions       how many there are in the set that accuracy means; 0 for any others
    prices          (n,) what an answer of each arm costs, relative to the others; None if all cost
                    the same, or if it does not take them
    interval        the meaning of lower and upper of its standing, for users: for whom and when
                    they hold, a colon, and the rest

    Raises ProblemError for an option that is unknown or out of range, and for a problem the
    algorithm cannot be run on.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    guarantee: Guarantee
    needs: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    known_options: ClassVar[tuple[Option, ...]] = ()
    epsilon_moves: ClassVar[bool] = True
    open_roster: ClassVar[bool] = True
    in_rounds: ClassVar[bool] = False
    path_dependent: ClassVar[bool] = False
    keeps_quotas: ClassVar[bool] = False
    several_skills: ClassVar[bool] = False
    takes_skills: ClassVar[bool] = False
    matches: ClassVar[bool] = False
    weighs_out: ClassVar[bool] = False
    weighs_start: ClassVar[bool] = False
    roster_fixed: ClassVar[bool] = False
    covers_leavers: ClassVar[bool] = True
    says_accuracy: ClassVar[bool] = False
    takes_scores: ClassVar[bool] = False
    takes_mark: ClassVar[bool] = False
    common_order: ClassVar[bool] = False
    interval: ClassVar[str] = (
        "bounds that the algorithm compares: they need not hold for all workers, or at all times"
    )

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        self.problem = problem
        self.options = settle_options(self.title, self.known_options, options)
        self.questions = questions_of(self.options)
        self.prices = relative_prices(self.options.get(PRICES.name), problem.n)
        self.state = state if state is not None else State.fresh(problem.n)
        self.events: list[Event] = []
        if "budget" in self.needs and problem.budget is None:
            raise ProblemError(f"{self.title} needs a budget.")
        self._check()

    def _check(self) -> None:  # noqa: B027 most algorithms take any problem
        """Raise ProblemError if this algorithm cannot be run on this problem."""

    # -- observing

    def tell(self, arms: ArrayLike, rewards: ArrayLike, pulls: ArrayLike = 1) -> None:
        """Count rewards, each in [0, 1], of these arms; an arm may be named any number of times.

        arms     (m,) arm numbers
        rewards  (m,) one reward each, or the sum over ``pulls`` pulls of the arm
        pulls    how many pulls each entry stands for

        The state afterwards does not depend on how the answers were batched or ordered. Raises
        ValueError for an arm that does not exist or a reward out of range.
        """
        arms, rewards = np.asarray(arms, np.int64), np.asarray(rewards, np.float64)
        pulls = np.broadcast_to(np.asarray(pulls, np.int64), arms.shape)
        if arms.size and (arms.min() < 0 or arms.max() >= self.problem.n):
            raise ValueError(f"Arms are numbered 0 to {self.problem.n - 1}.")
        if (rewards < 0).any() or (rewards > pulls).any():
            raise ValueError("A reward lies in 0 to 1.")
        n = self.problem.n
        counts = np.bincount(arms, pulls, n).astype(np.int64)
        self.state.out = np.maximum(self.state.out - counts, 0)
        self._count(counts, np.bincount(arms, rewards, n).astype(np.float64))

    def wait_for(self, out: ArrayLike) -> None:
        """Set the (n,) numbers of outstanding answers: asked, and not told yet.

        If a guarantee would otherwise depend on how long answers take, these count at their worst
        in all judgements until they are told. Without this call none is outstanding.
        """
        self.state.out = np.array(out, np.int64)

    def is_held_up(self) -> bool:
        """Tell if it would stop now, were no answer outstanding."""
        return False

    def takes(self) -> Counts:
        """Count (n,) the further answers of each arm that can be told now."""
        return np.full(self.problem.n, UNLIMITED)

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        if self.questions and (self.state.pulls + pulls > self.questions).any():
            raise ValueError(f"A worker answers each of the {self.questions} questions once.")
        self.state.pulls += pulls
        self.state.rewards += rewards

    @property
    def means(self) -> Floats:
        """(n,) empirical means; nan for an arm without a pull."""
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
        """Choose how many more pulls each arm should get now; changes nothing.

        slots    most pulls to ask for in all; None asks for the pulls the paper would make next
        pending  (n,) outstanding pulls: they count as made for choosing, never for judging
        room     (n,) most pulls each arm may still be asked, beyond the pending ones
        rng      source of randomness of an algorithm that flips coins

        Returns int64 (n,), each between 0 and its room, the sum within slots and budget.
        """
        n = self.problem.n
        out = np.zeros(n, np.int64) if pending is None else np.asarray(pending, np.int64)
        free = np.full(n, UNLIMITED) if room is None else np.asarray(room, np.int64)
        free = np.where(self.state.verdict == Verdict.UNDECIDED, free, 0)
        if self.questions:
            free = np.minimum(free, np.maximum(self.questions - self.state.pulls - out, 0))
        most = min(UNLIMITED if slots is None else slots, self._budget_left(out))
        if most <= 0 or self.stop():
            return np.zeros(n, np.int64)
        plan = self._ask(None if slots is None else most, out, free, rng)
        return fill_level(plan, most)

    @abstractmethod
    def _ask(
        self,
        slots: int | None,
        pending: Counts,
        room: Counts,
        rng: np.random.Generator | None,
    ) -> Counts:
        """Do ``ask``, with budget and verdicts applied: room is 0 for an arm that is decided."""

    def simulate(
        self, truth: Floats, cap: int, gaussian: bool, rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Pull just as the paper does, on arms of these means, until it stops or ``cap`` pulls.

        Returns the reasons to stop; none at the cap.
        """
        return drive_selector(self, truth, None, cap, gaussian, rng)

    def _budget_left(self, pending: Counts) -> int:
        if self.problem.budget is None:
            return UNLIMITED
        return self.problem.budget - int(self.state.pulls.sum()) - int(pending.sum())

    # -- judging

    def stop(self) -> tuple[str, ...]:
        """List the reasons to stop; empty to go on."""
        if self._is_done():
            return (GUARANTEE_KEPT if self.guarantee.fixed == "confidence" else BUDGET_SPENT,)
        if self._budget_left(np.zeros(1, np.int64)) <= 0:
            return (BUDGET_SPENT,)
        return ()

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        """Tell if the guarantee holds although workers were withdrawn after answers.

        problem  of the start of the run
        """
        return not cls.roster_fixed

    @classmethod
    def judges_anew(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        """Tell if an early end may be judged among the workers that answered alone.

        problem  of the start of the run; docs/absence.md, section 2
        """
        return cls.covers_leavers and cls.covers_withdrawal(problem, options)

    @abstractmethod
    def _is_done(self) -> bool:
        """Tell if the guarantee holds, or for a fixed budget, if its plan is carried out."""

    @abstractmethod
    def selection(self) -> Counts:
        """Choose the k arms it would select now, in rising order; fewer if it takes a mark."""

    @abstractmethod
    def standing(self) -> Standing:
        """Describe the standing of every arm."""

    def best(self, values: Floats) -> Counts:
        """Find the arms of largest total value among all allowed sets, in rising order."""
        return top_arms(values, self.problem.k)

    def shortfall(self, arms: Counts) -> float:
        """Bound the regret of these k arms, as its guarantee bounds that of its own selection.

        It holds at all times at once, with the guarantee's probability. 1 means no bound.
        """
        return self.standing().gap if np.array_equal(arms, self.selection()) else 1.0

    def worst_swap(self, arms: Counts, lower: Floats, upper: Floats) -> float:
        """Bound the loss of these k arms, on average, if each is within its (n,) bounds.

        The worst accuracies for them do not depend on the set they are compared with, so the best
        set under these is the worst swap.
        """
        worth = upper.copy()
        worth[arms] = lower[arms]
        total = worth[self.best(worth)].sum() - worth[arms].sum()
        return float(np.clip(total / self.problem.k, 0, 1))

    def warnings(self) -> tuple[Doubt, ...]:
        """List sentences for users about doubts in the guarantee for this pool; mostly none."""
        return ()

    def fitted(self) -> PopulationSummary | None:
        """Summarise the population fitted to the pool; None for algorithms that need none."""
        return None

    def _final(self) -> NDArray[np.int8]:
        """Decide (n,) verdicts: all once it is done, the state's own until then."""
        if not self._is_done():
            return self.state.verdict
        verdict = np.full(self.problem.n, Verdict.REJECTED, np.int8)
        verdict[self.selection()] = Verdict.ACCEPTED
        return verdict


def drive_selector(
    selector: Selector,
    truth: Floats,
    slots: int | None,
    cap: int,
    gaussian: bool,
    rng: np.random.Generator,
    concentration: float | None = None,
) -> tuple[str, ...]:
    """Ask, draw and tell until the selector stops (its reasons) or the cap is reached (none)."""
    while not (reasons := selector.stop()) and selector.state.pulls.sum() < cap:
        counts = selector.ask(slots, rng=rng)
        arms = np.flatnonzero(counts)
        if selector.common_order:  # answers one by one
            arms = np.repeat(arms, counts[arms])
            counts = np.ones_like(counts)
        rewards = draw_rewards(truth[arms], counts[arms], gaussian, rng, concentration)
        selector.tell(arms, rewards, counts[arms])
    return reasons
