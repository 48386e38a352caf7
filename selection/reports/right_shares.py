"""Shares of right answers, with intervals of 95 %."""

import math
from dataclasses import dataclass

import scipy

from selection.viewer_locale import format_percent

Z = 1.959964  # quantile of the normal distribution, for 95 %


@dataclass(frozen=True)
class RightShare:
    """A number of right answers, of a number of answers."""

    right: int
    answers: int

    @property
    def value(self) -> float | None:
        return self.right / self.answers if self.answers else None

    def exact(self) -> tuple[float, float]:
        """Compute the interval of 95 % of Clopper and Pearson, Biometrika 26 (1934)."""
        n, hits = self.answers, self.right
        lower = float(scipy.special.betaincinv(hits, n - hits + 1, 0.025)) if hits else 0.0
        upper = float(scipy.special.betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
        return lower, upper

    @property
    def label(self) -> str:
        """The share in words: "0 of 3, interval 0–71%"."""
        if not self.answers:
            return "no answers"
        low, high = self.exact()
        interval = f"{round(100 * low)}–{format_percent(high)}"
        return f"{self.right} of {self.answers}, interval {interval}"

    def wilson(self) -> tuple[float, float]:
        n, p = self.answers, self.right / self.answers
        middle = p + Z * Z / (2 * n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        lower, upper = (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)
        return max(0.0, lower), min(1.0, upper)


@dataclass(frozen=True)
class ShareDifference:
    """Share right of the likely best less that of the rest, with an interval of 95 %.

    The hybrid of two Wilson intervals: Newcombe, Statistics in Medicine 17 (1998), method 10.
    """

    value: float
    lower: float
    upper: float

    @classmethod
    def compare(cls, best: RightShare, rest: RightShare) -> "ShareDifference | None":
        if not best.answers or not rest.answers:
            return None
        best_share, rest_share = best.right / best.answers, rest.right / rest.answers
        (low, high), (other_low, other_high) = best.wilson(), rest.wilson()
        value = best_share - rest_share
        return cls(
            value,
            value - math.hypot(best_share - low, other_high - rest_share),
            value + math.hypot(high - best_share, rest_share - other_low),
        )
