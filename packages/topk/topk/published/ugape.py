"""UGapE: bound every arm's gap, and pull the wider of the two arms that hold the gap open.

Gabillon, Ghavamzadeh, Lazaric: Best arm identification: a unified approach to fixed budget and
fixed confidence, NIPS 2012, Figure 1 and section 3.
"""

import math
from typing import Any, ClassVar

import numpy as np

from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem
from topk.selector import Counts, Floats
from topk.state import State

from . import kernels
from .kernels import Arms, Memo, Strategy
from .sequential import FixedBudget, SequentialSelector, strategy_for


class UGapEc(SequentialSelector):
    """Radius b sqrt(c ln(4 n (t-1)^3 / delta) / T), with b = 1 and c = 1/2."""

    name = "ugape-c"
    title = "UGapEc"
    guarantee = Guarantee(
        Goal.EXPLORE_K, "confidence", "Gabillon, Ghavamzadeh, Lazaric 2012, Theorem 2"
    )
    chosen_row = kernels.CHOSEN

    def _strategy(self) -> Strategy:
        constant = math.log(4 * self.problem.n / self.problem.delta)
        return strategy_for(
            self.problem, kernels.GAPS, kernels.CLOCK, log_constant=constant, log_power=3.0
        )


class UGapEV(SequentialSelector):
    """UGapEc with Bernstein's radius, narrower for workers that are nearly always right or wrong.

    The logarithm is ln(8 n (t-1)^3 / delta), with which the two-sided union bound adds up to delta;
    the proof of UGapEc needs nothing else of the radius.
    """

    name = "ugape-v"
    title = "UGapE-V"
    guarantee = Guarantee(
        Goal.EXPLORE_K,
        "confidence",
        "Gabillon, Ghavamzadeh, Lazaric 2012, from memory; logarithm widened by us",
    )
    chosen_row = kernels.CHOSEN

    def _strategy(self) -> Strategy:
        constant = math.log(8 * self.problem.n / self.problem.delta)
        return strategy_for(
            self.problem,
            kernels.GAPS,
            kernels.BERNSTEIN,
            warm=2,
            log_constant=constant,
            log_power=3.0,
        )


EXPLORATION = Option(
    "exploration",
    None,
    "The exploration parameter a; left empty, it is estimated from the answers as they come.",
    above=0,
)


class UGapEb(FixedBudget):
    """Radius b sqrt(a / T); selects the J(t) of least B seen at any look, instead of the last.

    With a unknown it is eta (Q - n) / (4 H), H estimated from the gaps so far: no guarantee.
    """

    name = "ugape-b"
    title = "UGapEb"
    guarantee = Guarantee(
        Goal.EXPLORE_K, "budget", "Gabillon, Ghavamzadeh, Lazaric 2012, Theorem 1 for a known H"
    )
    needs = ("epsilon", "budget")
    epsilon_moves = False  # it enters the gaps from which the exploration is estimated
    known_options: ClassVar[tuple[Option, ...]] = (
        EXPLORATION,
        Option("eta", 1.0, "What the estimated exploration is multiplied by.", above=0, most=1000),
    )
    path_dependent = True
    chosen_row = kernels.CHOSEN

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        self.state.memory.setdefault("best", [])
        self.state.memory.setdefault("best_gap", None)

    def _strategy(self) -> Strategy:
        exploration = self.options["exploration"]
        return strategy_for(
            self.problem,
            kernels.GAPS,
            kernels.ADAPTIVE if exploration is None else kernels.EXPLORATION,
            slack=-math.inf,
            accuracy=self.problem.epsilon,
            exploration=self.options["eta"] / 4 if exploration is None else exploration,
        )

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        if self._warm:
            arms, memo, gap = self._judgement()
            kernels.remember(self.strategy, arms, memo, gap)
            self._remember(arms, memo)

    def _remember(self, arms: Arms, memo: Memo) -> None:
        best_gap, gap = self.state.memory["best_gap"], float(memo[kernels.RECORD])
        if np.isfinite(gap) and (best_gap is None or gap < best_gap):
            best = np.flatnonzero(arms[kernels.BEST] < 0)
            self.state.memory |= {"best_gap": gap, "best": best.tolist()}

    def selection(self) -> Counts:
        best = np.array(self.state.memory["best"], np.int64)
        return best if best.size else super().selection()
