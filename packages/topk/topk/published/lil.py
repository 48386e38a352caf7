"""Algorithms on bounds from the law of the iterated logarithm, which do not widen with time.

LilUCB        Jamieson, Malloy, Nowak, Bubeck: lil' UCB, COLT 2014 (one arm)
LilLUCB       Jamieson, Nowak: Best-arm identification algorithms, CISS 2014
LUCBpp        Simchowitz, Jamieson, Recht: The simulator, COLT 2017
LilRandLUCB   Jiang, Li, Qiao: Practical algorithms for best-K identification, 2017, Algorithm 1
(lil'CLUCB, of the last paper, is in clucb.py.)

If an arm's bound was wrong early, the arm may never be pulled again, because its bound does not
widen: such a run need not end. Give it a budget.
"""

import math
from typing import Any, ClassVar

import numpy as np

from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.selector import Counts, Selector
from topk.state import State

from . import kernels
from .bounds import lil_failure
from .kernels import Strategy
from .sequential import SequentialSelector, strategy_for

GROWTH = 0.01  # e; the papers leave it open, and this is the choice of Jamieson et al. 2014
PARAMETERS = Option(
    "parameters",
    "faithful",
    "Faithful parameters keep the guarantee; heuristic ones need fewer answers and have none.",
    "choice",
    ("faithful", "heuristic"),
)
HEURISTIC = "heuristic parameters are not covered by the proof"


def lil_width(growth: float) -> float:
    """Compute (1 + sqrt e) sqrt(2 sigma^2 (1+e)), sigma = 1/2."""
    return (1 + math.sqrt(growth)) * math.sqrt((1 + growth) / 2)


class LilSelector(SequentialSelector):
    """Radius U(T, w), with one w for arms inside the best K and one outside; exact, stops on >=."""

    needs = ("delta",)
    known_options: ClassVar[tuple[Option, ...]] = (PARAMETERS,)
    interval = Selector.interval  # levels by rank, of one worker, or heuristic
    sampling: ClassVar[int] = kernels.PAIR

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        if not self.faithful:
            citation = self.guarantee.citation
            self.guarantee = Guarantee(Goal.NONE, "confidence", citation, note=HEURISTIC)

    @property
    def faithful(self) -> bool:
        return bool(self.options["parameters"] == "faithful")

    @property
    def growth(self) -> float:
        """The e of the radius, which sets how fast its epochs grow; 0 with heuristic parameters."""
        return GROWTH if self.faithful else 0.0

    def _level(self) -> float:
        """Choose the paper's delta so that the whole fails with at most the problem's."""
        delta = self.problem.delta
        return delta / lil_failure(GROWTH) if self.faithful else delta

    def _shares(self) -> tuple[float, float]:
        """Divide the level for an arm inside the best K, and for one outside."""
        return self.problem.n, self.problem.n

    def _strategy(self) -> Strategy:
        inside, outside = self._shares()
        return strategy_for(
            self.problem,
            self.sampling,
            kernels.ITERATED,
            slack=0.0,
            strict=False,
            growth=self.growth,
            width=lil_width(self.growth),
            log_inner=math.log(inside / self._level()),
            log_outer=math.log(outside / self._level()),
        )


class LilLUCB(LilSelector):
    name = "lil-lucb"
    title = "lil'LUCB"
    guarantee = Guarantee(Goal.EXACT, "confidence", "Jamieson, Nowak 2014", early=Goal.EXPLORE_K)


class LUCBpp(LilSelector):
    """LUCB++: an error needs a bad arm to break its lower bound or a good one its upper bound."""

    name = "lucb-plus-plus"
    covers_leavers = False
    title = "LUCB++"
    guarantee = Guarantee(
        Goal.EXACT, "confidence", "Simchowitz, Jamieson, Recht 2017", early=Goal.EXPLORE_K
    )

    def _shares(self) -> tuple[float, float]:
        return 2 * (self.problem.n - self.problem.k), 2 * self.problem.k


class LilRandLUCB(LUCBpp):
    """LUCB++ with one pull a round, more often of the less pulled of the two arms."""

    name = "lil-rand-lucb"
    title = "lil'RandLUCB"
    guarantee = Guarantee(
        Goal.EXACT, "confidence", "Jiang, Li, Qiao 2017, Theorem 3.1", early=Goal.EXPLORE_K
    )
    sampling = kernels.COIN


class LilUCB(LilSelector):
    """Pulls the greatest m + (1 + beta) U(T, delta'), until one arm outweighs all the others."""

    name = "lil-ucb"
    title = "lil'UCB"
    guarantee = Guarantee(Goal.EXACT, "confidence", "Jamieson, Malloy, Nowak, Bubeck 2014")

    def _check(self) -> None:
        if self.problem.k != 1:
            raise ProblemError(f"{self.title} selects one worker, so K must be 1.")

    def _level(self) -> float:
        """Solve 4 sqrt(c d) + 4 c d = delta for d."""
        delta = self.problem.delta
        if not self.faithful:
            return delta / 5
        return (math.sqrt(1 + delta) - 1) ** 2 / (4 * lil_failure(GROWTH))

    def _strategy(self) -> Strategy:
        beta = 1.0 if self.faithful else 0.5
        dominance = ((2 + beta) / beta) ** 2 if self.faithful else 1 + 10 / self.problem.n
        log_rate = math.log(1 / self._level())
        return strategy_for(
            self.problem,
            kernels.INDEX,
            kernels.ITERATED,
            slack=0.0,
            strict=False,
            growth=self.growth,
            width=(1 + beta) * lil_width(self.growth),
            log_inner=log_rate,
            log_outer=log_rate,
            dominance=dominance,
        )

    def _look_ahead(
        self, slots: int, once: bool, pending: Counts, room: Counts, rng: np.random.Generator
    ) -> Counts:
        """Drop pulls that exceed an arm's room: another arm that got them could keep one from
        outweighing it.

        With little room for each arm and slots for all, no arm would ever outweigh the rest.
        """
        plan = super()._look_ahead(slots, once, pending, np.full_like(room, slots), rng)
        return np.minimum(plan, room)

    def selection(self) -> Counts:
        """Choose the arm pulled most."""
        return np.array([self.state.pulls.argmax()], np.int64)
