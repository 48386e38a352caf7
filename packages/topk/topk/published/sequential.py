"""Base of algorithms that look at every answer before they choose the next arm."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from topk.best_sets import kth_rival_values, top_arms
from topk.problem import Problem
from topk.selector import (
    BUDGET_SPENT,
    GUARANTEE_KEPT,
    TOGETHER,
    Counts,
    Floats,
    Selector,
    Standing,
)
from topk.state import State, Verdict

from . import kernels
from .kernels import Arms, Memo, Strategy


def strategy_for(problem: Problem, sampling: int, radius: int, **parameters: Any) -> Strategy:
    """Build a Strategy in which parameters that are not named have no effect."""
    defaults: dict[str, Any] = dict.fromkeys(Strategy._fields, 0.0) | {
        "k": problem.k,
        "warm": 1,
        "slack": problem.epsilon,
        "strict": True,
        "tick": 1,
        "budget": problem.budget or 0,
    }
    return Strategy(**defaults | {"sampling": sampling, "radius": radius} | parameters)


class SequentialSelector(Selector):
    """Pulls every arm once, then the arms that ``kernels.look`` returns, over and over.

    Its bounds hold for any sampling strategy, so answers may be batched and late.
    """

    takes_scores = True
    interval = TOGETHER
    chosen_row: ClassVar[int] = kernels.HIGH

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        self.strategy = self._strategy()
        self._judged: tuple[Arms, Memo, float] | None = None

    @abstractmethod
    def _strategy(self) -> Strategy:
        """State the algorithm's parameters."""

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._judged = None

    @property
    def _warm(self) -> bool:
        """True if every arm has the pulls that it needs to be compared."""
        return bool(self.state.pulls.min() >= self.strategy.warm)

    def _board(self, pulls: Counts) -> tuple[Arms, Memo]:
        means = np.nan_to_num(self.means, nan=0.5)
        arms, memo = kernels.build_board(pulls, self.state.rewards, means, self.problem.k)
        kernels.refresh_all(self.strategy, arms, memo)
        return arms, memo

    def _judgement(self) -> tuple[Arms, Memo, float]:
        if self._judged is None:
            arms, memo = self._board(self.state.pulls)
            self._judged = arms, memo, kernels.look(self.strategy, arms, memo)[2]
        return self._judged

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        lacking = np.clip(self.strategy.warm - self.state.pulls - pending, 0, room)
        plan = np.minimum(lacking, 1) if slots is None else _first(lacking, slots)
        rest = 2 if slots is None else slots - int(plan.sum())
        if (slots is None and plan.any()) or rest <= 0:
            return plan
        rng = np.random.default_rng(int(self.state.pulls.sum())) if rng is None else rng
        return plan + self._look_ahead(rest, slots is None, pending + plan, room - plan, rng)

    def _look_ahead(
        self, slots: int, once: bool, pending: Counts, room: Counts, rng: np.random.Generator
    ) -> Counts:
        pulls = self.state.pulls + pending
        arms, memo = self._board(pulls)
        arms[kernels.SHUT, (room <= 0) | (pulls < self.strategy.warm)] = np.inf
        judged = None if self._judged is None else self._judged[0]
        near = kernels.find_near_ends(self.strategy, arms, memo, slots, judged)
        board = kernels.narrow_board(self.strategy, arms, memo, near)
        looks = 1 if once else slots
        plan: Counts = np.zeros(room.size, np.int64)
        plan[near] = kernels.look_ahead(self.strategy, *board, slots, looks, room[near], rng)
        return plan

    # -- judging

    def _is_done(self) -> bool:
        return self._warm and bool(kernels.is_kept(self.strategy, self._judgement()[2]))

    def _gap(self) -> float:
        return min(1.0, self._judgement()[2]) if self._warm else 1.0

    def selection(self) -> Counts:
        if not self._warm:
            return top_arms(self.means, self.problem.k)
        return np.flatnonzero(self._judgement()[0][self.chosen_row] < 0)

    def _bounds(self) -> tuple[Floats, Floats]:
        arms, memo, _ = self._judgement()
        kernels.spread(self.strategy, arms, memo)
        return arms[kernels.LOWER], arms[kernels.UPPER]

    def shortfall(self, arms: Counts) -> float:
        """Bound explore-K regret: the K best have K others' upper bounds at most above each arm's
        lower one.

        It needs no more of the bounds than the proofs do: upper ones of the K best, lower ones of
        the rest.
        """
        if not self._warm:
            return 1.0
        lower, upper = self._bounds()
        return float(np.clip((kth_rival_values(upper, self.problem.k) - lower)[arms].max(), 0, 1))

    def standing(self) -> Standing:
        lower, upper = self._bounds()
        verdict = self._final()
        settled = np.zeros(self.problem.n, np.int8)
        if self.guarantee.fixed == "confidence":
            settled[lower > kth_rival_values(upper, self.problem.k)] = Verdict.ACCEPTED
            settled[upper < kth_rival_values(lower, self.problem.k)] = Verdict.REJECTED
        return Standing(
            mean=self.means,
            lower=np.clip(lower, 0, 1),
            upper=np.clip(upper, 0, 1),
            verdict=verdict,
            settled=np.where(verdict == Verdict.UNDECIDED, settled, verdict),
            gap=self._gap(),
            wanted=self.problem.epsilon if "epsilon" in self.needs else 0.0,
        )

    # -- simulating

    def simulate(
        self, truth: Floats, cap: int, gaussian: bool, rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Make the same looks in one compiled loop, starting from the present state."""
        arms, memo = self._board(self.state.pulls)
        unlimited = np.iinfo(np.int64).max
        budget = unlimited if self.problem.budget is None else self.problem.budget
        success = kernels.run(self.strategy, arms, memo, truth, budget, cap, gaussian, rng)
        self.state.pulls = arms[kernels.PULLS].astype(np.int64)
        self.state.rewards = arms[kernels.REWARDS].copy()
        self._judged = None
        self._remember(arms, memo)
        if success:
            return (GUARANTEE_KEPT,)
        return (BUDGET_SPENT,) if memo[kernels.TOTAL] >= budget else ()

    def _remember(self, arms: Arms, memo: Memo) -> None:
        """Store results of the run other than counts."""


def _first(need: Counts, slots: int) -> Counts:
    plan: Counts = np.clip(slots - (np.cumsum(need) - need), 0, need)
    return plan


class FixedBudget(SequentialSelector):
    """Has no test to stop: it goes on until the budget is spent."""

    needs: ClassVar[tuple[str, ...]] = ("budget",)
    open_roster = False
    interval = Selector.interval

    def _is_done(self) -> bool:
        return self._budget_left(np.zeros(1, np.int64)) <= 0

    def _gap(self) -> float:
        """Compute the share of the budget that is left."""
        budget = self.problem.budget or 1
        return max(0.0, 1 - int(self.state.pulls.sum()) / budget)
