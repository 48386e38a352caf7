"""CLUCB: compare the best set with the set that is best when the first one is judged at its worst.

CLUCBPAC  Chen, Lin, King, Lyu, Chen: Combinatorial pure exploration of multi-armed bandits, NIPS
          2014, Algorithm 1 and appendix B.2
LilCLUCB  Jiang, Li, Qiao: Practical algorithms for best-K identification, 2017, Algorithms 2 and 3

Both work for any family of sets of K arms over which an oracle can maximise: all sets, those within
quotas, or assignments.
"""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from topk.best_sets import MATCHING, QUOTAS, Matching, Quotas
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.selector import Counts, Floats, drive_selector
from topk.state import State

from . import kernels
from .bounds import lil_failure
from .kernels import Arms, Memo, Strategy
from .lil import GROWTH, PARAMETERS, LilSelector
from .sequential import SequentialSelector, strategy_for

ROUNDING = 1e-12  # values of two sets that differ by less are equal


class OracleSelector(SequentialSelector):
    """``kernels.look_sets`` for all sets of K; the same in numpy if an oracle gives the family."""

    keeps_quotas = True
    takes_skills = True
    matches = True

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        if self.oracle is not None:
            self.guarantee = replace(self.guarantee, within=self.oracle.within)

    def _check(self) -> None:
        n, k = self.problem.n, self.problem.k
        quotas, matching = self.options["quotas"], self.options["matching"]
        if quotas is not None and matching is not None:
            raise ProblemError(f"{self.title} takes quotas or a matching, not both.")
        self.oracle: Quotas | Matching | None = None
        if quotas is not None:
            self.oracle = Quotas(n, k, quotas)
        if matching is not None:
            self.oracle = Matching(n, k, matching)

    def _look(self, arms: Arms, memo: Memo) -> tuple[int, float]:
        """Find the arm to pull (-1: none) and the gap, by the oracle's sets."""
        if self.oracle is None:
            arm, _, gap = kernels.look(self.strategy, arms, memo)
            return arm, gap
        kernels.spread(self.strategy, arms, memo)
        first = self.oracle.best(arms[kernels.MEAN])
        worth = np.where(first, arms[kernels.LOWER], arms[kernels.UPPER])
        second = self.oracle.best(worth)
        arms[kernels.HIGH] = np.where(first, -np.inf, np.inf)
        # w(M~) - w(M), each arm worth its lower bound in M and its upper one outside.
        gap = worth[second & ~first].sum() - worth[first & ~second].sum()
        # Pull the widest arm on which the two sets differ and that may be pulled.
        width = np.where((first != second) & (arms[kernels.SHUT] == 0), arms[kernels.INNER], -1.0)
        return int(width.argmax()) if width.max() >= 0 else -1, float(gap)

    def _judgement(self) -> tuple[Arms, Memo, float]:
        if self._judged is None:
            arms, memo = self._board(self.state.pulls)
            self._judged = arms, memo, self._look(arms, memo)[1]
        return self._judged

    def _look_ahead(
        self, slots: int, once: bool, pending: Counts, room: Counts, rng: np.random.Generator
    ) -> Counts:
        if self.oracle is None:
            return super()._look_ahead(slots, once, pending, room, rng)
        pulls, plan = self.state.pulls + pending, np.zeros_like(pending)
        arms, memo = self._board(pulls)
        arms[kernels.SHUT, (room <= 0) | (pulls < self.strategy.warm)] = np.inf
        rest = 1 if once else slots
        while rest > 0 and (arm := self._look(arms, memo)[0]) >= 0:
            portion = min(1 + (rest - 1) // kernels.PORTIONS, int(room[arm] - plan[arm]), rest)
            kernels.count(self.strategy, arms, memo, arm, portion)
            plan[arm] += portion
            rest -= portion
            if plan[arm] == room[arm]:
                arms[kernels.SHUT, arm] = np.inf
        return plan

    def _gap(self) -> float:
        """Divide the gap by the selected workers; the kernel's gap is of sums."""
        return min(1.0, self._judgement()[2] / self.problem.k) if self._warm else 1.0

    def best(self, values: Floats) -> Counts:
        if self.oracle is None:
            return super().best(values)
        return np.flatnonzero(self.oracle.best(values))

    def shortfall(self, arms: Counts) -> float:
        """Bound the regret of the mean of these arms: CLUCB bounds sums."""
        return self.worst_swap(arms, *self._bounds()) if self._warm else 1.0

    def selection(self) -> Counts:
        if self._warm or self.oracle is None:
            return super().selection()
        return self.best(np.nan_to_num(self.means, nan=-1.0))

    def simulate(
        self, truth: Floats, cap: int, gaussian: bool, rng: np.random.Generator
    ) -> tuple[str, ...]:
        if self.oracle is None:
            return super().simulate(truth, cap, gaussian, rng)
        return drive_selector(self, truth, None, cap, gaussian, rng)


class CLUCBPAC(OracleSelector):
    """Radius sqrt(ln(4 n t^3 / delta) / (2T)); stops at w(M~) - w(M) <= K epsilon.

    The regret is a sum over K places, so an average of epsilon is a sum of K epsilon.
    """

    name = "clucb-pac"
    title = "CLUCB-PAC"
    guarantee = Guarantee(
        Goal.AGGREGATE, "confidence", "Chen, Lin, King, Lyu, Chen 2014, appendix B.2"
    )
    known_options: ClassVar[tuple[Option, ...]] = (QUOTAS, MATCHING)

    def _strategy(self) -> Strategy:
        constant = math.log(4 * self.problem.n / self.problem.delta)
        return strategy_for(
            self.problem,
            kernels.SETS,
            kernels.CLOCK,
            slack=self.problem.k * self.problem.epsilon + ROUNDING,
            strict=False,
            log_constant=constant,
            log_power=3.0,
        )


class LilCLUCB(OracleSelector, LilSelector):
    """Radius U(T, delta' / n); exact."""

    name = "lil-clucb"
    title = "lil'CLUCB"
    guarantee = Guarantee(
        Goal.EXACT, "confidence", "Jiang, Li, Qiao 2017, Theorem 4.1", early=Goal.AGGREGATE
    )
    known_options: ClassVar[tuple[Option, ...]] = (PARAMETERS, QUOTAS, MATCHING)
    sampling = kernels.SETS

    def _level(self) -> float:
        """Compute (delta n^e / c_e)^(1/(1+e)), which makes the failure c_e d^(1+e) / n^e delta."""
        if not self.faithful:
            return self.problem.delta
        power = self.problem.n**GROWTH / lil_failure(GROWTH)
        return float((self.problem.delta * power) ** (1 / (1 + GROWTH)))

    def _strategy(self) -> Strategy:
        return super()._strategy()._replace(slack=ROUNDING)
