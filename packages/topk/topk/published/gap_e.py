"""Gap-E for K arms: pull the arm whose gap is small or uncertain.

Bubeck, Wang, Viswanathan: Multiple identifications in multi-armed bandits, ICML 2013, Figure 3, an
extension of UCB-E. The figure's formula is missing in our copy; this is the form of Gabillon et
al. 2011, and the multiplier of the exploration is ours.
"""

import math
from typing import ClassVar

from topk.guarantee import Goal, Guarantee
from topk.options import Option

from . import kernels
from .kernels import Strategy
from .sequential import FixedBudget, strategy_for
from .ugape import EXPLORATION


class GapE(FixedBudget):
    """Pull argmax of sqrt(a / T) less the empirical gap; a = c Q / H, H estimated if unknown."""

    name = "gap-e"
    title = "Gap-E"
    guarantee = Guarantee(
        Goal.EXACT, "budget", "Bubeck, Wang, Viswanathan 2013, Figure 3; no theorem for K arms"
    )
    known_options: ClassVar[tuple[Option, ...]] = (
        EXPLORATION,
        Option("c", 2.0, "What the estimated exploration Q / H is multiplied by.", above=0),
    )

    def _strategy(self) -> Strategy:
        exploration = self.options["exploration"]
        return strategy_for(
            self.problem,
            kernels.GAP_INDEX,
            kernels.ADAPTIVE if exploration is None else kernels.EXPLORATION,
            slack=-math.inf,
            # The kernel's H is of half gaps: four times the sum of gap^-2.
            exploration=4 * self.options["c"] if exploration is None else exploration,
        )
