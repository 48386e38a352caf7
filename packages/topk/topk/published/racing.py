"""BatchRacing: batches that treat arms equally, after each of which arms leave on either side.

Jun, Jamieson, Nowak, Zhu: Top arm identification in multi-armed bandits with batch arm pulls,
AISTATS 2016.
"""

import math
from typing import ClassVar

import numpy as np

from topk.best_sets import kth_rival_values, rank_arms
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.selector import Counts, Floats
from topk.state import Verdict

from .bounds import jun
from .rounds import RoundSelector


class BatchRacing(RoundSelector):
    """Batches that go to the arms of fewest pulls, at most ``repeat`` pulls to one arm."""

    name = "batch-racing"
    title = "BatchRacing"
    guarantee = Guarantee(
        Goal.EXACT, "confidence", "Jun, Jamieson, Nowak, Zhu 2016", early=Goal.EXPLORE_K
    )
    needs = ("delta",)
    known_options: ClassVar[tuple[Option, ...]] = (
        Option(
            "batch",
            None,
            "Answers in a batch; left empty, as many as there are workers.",
            "integer",
            above=0,
        ),
        Option(
            "repeat", 1, "Most answers of one worker in a batch.", "integer", above=0, most=10**6
        ),
    )

    def _target(self) -> Counts:
        """Level the pulls at the batch's start up from below, each by at most ``repeat``."""
        # (n,) pulls when the batch began; decided arms are far above any water line.
        start = np.where(self.undecided, self.state.pulls - self.state.memory["pulls"], 2**60)
        repeat = int(self.options["repeat"])
        batch = self.options["batch"] or self.problem.n
        if batch >= repeat * int(self.undecided.sum()):
            return np.full(self.problem.n, repeat)
        low, high = int(start.min()), int(start.min()) + batch + 1
        while high - low > 1:  # low: a level that costs no more than the batch
            middle = (low + high) // 2
            cheap = np.clip(middle - start, 0, repeat).sum() <= batch
            low, high = (middle, high) if cheap else (low, middle)
        # Every arm goes up to the line low; then, as far as the batch goes, arms that have reached
        # it and may take one more get one.
        target: Counts = np.clip(low - start, 0, repeat)
        able = np.flatnonzero((start + target == low) & (target < repeat))
        target[able[: batch - int(target.sum())]] += 1
        return target

    def _interval(self) -> tuple[Floats, Floats]:
        radius = jun(self.state.pulls, math.sqrt(self.problem.delta / (6 * self.problem.n)))
        means = np.nan_to_num(self.means, nan=0.5)
        return means - radius, means + radius

    def _close(self) -> None:
        arms, k = np.flatnonzero(self.undecided), self.places
        lower, upper = (bound[arms] for bound in self._interval())
        # An arm is in when at most k - 1 others could be above it, out when k others surely are.
        next_upper, kth_lower = np.sort(upper)[::-1][k], np.sort(lower)[::-1][k - 1]
        sure = f"the bounds in batch {self.round}"
        self._decide_all(arms[lower > next_upper], Verdict.ACCEPTED, sure)
        self._decide_all(arms[upper < kth_lower], Verdict.REJECTED, sure)
        order = rank_arms(self.state.memory["means"][arms])
        gap = upper[order[k:]].max() - lower[order[:k]].min()
        self.state.memory["gap"] = float(np.clip(gap, 0, 1))
        self._settle_the_rest()

    def shortfall(self, arms: Counts) -> float:
        """Bound explore-K regret as algorithms without rounds do; accepted arms are right if the
        bounds hold.
        """
        lower, upper = self._interval()
        short = (kth_rival_values(upper, self.problem.k) - lower)[arms[self.undecided[arms]]]
        return float(np.clip(short.max(initial=0), 0, 1))
