"""The verdict on a claim of a paper: reproduced, not reproduced, or undetermined."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .rows import Row

RULE = """\
A claim is read as comparisons, one at each point of the plots. A comparison speaks **for** the
claim if the two 99 % intervals are disjoint in the order claimed, **against** it if they are
disjoint in the other order, and is **open** if they overlap. Where it says “on average”, there is
one comparison for each curve: of the mean difference between the two over the curve's points that
tell something, whose 99 % interval must lie on one side of zero. Two algorithms are **alike** if
the ratio of any two values in their intervals is within 10 % of 1, and unlike if no such ratio is.
Points and curves at which neither algorithm ever fails, or both always do, tell nothing and are
left out.

With a share of the remaining comparisons that a claim *needs* for it, and one that it *bears*
against it (“always” needs 50 % and bears none; “mostly” 50 % and 10 %; “often” 25 % and 50 %), it
is

- **not reproduced** if more speak against it than it bears,
- **reproduced** if not, and as many speak for it as it needs,
- **undetermined** otherwise, and if nothing is left to compare.
"""
ALIKE = 0.1


class Verdict(StrEnum):
    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDETERMINED = "undetermined"


class Outcome(StrEnum):
    FOR = "for"
    AGAINST = "against"
    OPEN = "open"


@dataclass(frozen=True)
class Reach:
    """The strictness of a claim: shares of comparisons needed for it, and tolerated against it."""

    needs: float
    bears: float


ALWAYS, MOSTLY, OFTEN = Reach(0.5, 0.0), Reach(0.5, 0.1), Reach(0.25, 0.5)


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Claim:
    """said      the paper's claim, in our words
    reading   its form as comparisons.
    """

    said: str
    reading: str
    reach: Reach
    outcomes: Sequence[Outcome]

    def count(self, outcome: Outcome) -> int:
        return Counter(self.outcomes)[outcome]

    @property
    def verdict(self) -> Verdict:
        total = len(self.outcomes)
        if self.count(Outcome.AGAINST) > self.reach.bears * total:
            return Verdict.NOT_REPRODUCED
        if total and self.count(Outcome.FOR) >= self.reach.needs * total:
            return Verdict.REPRODUCED
        return Verdict.UNDETERMINED


# -- one comparison


def is_less(left: Estimate, right: Estimate) -> Outcome:
    """Compare two estimates: FOR if the left one is certainly less."""
    if left.high < right.low:
        return Outcome.FOR
    return Outcome.AGAINST if left.low > right.high else Outcome.OPEN


def is_alike(left: Estimate, right: Estimate) -> Outcome:
    """Compare two positive estimates: FOR if their ratio is certainly within a tenth of 1."""
    if min(left.low, right.low) <= 0 or not math.isfinite(left.high + right.high):
        return Outcome.OPEN
    least, most = left.low / right.high, left.high / right.low
    if least >= 1 - ALIKE and most <= 1 + ALIKE:
        return Outcome.FOR
    return Outcome.AGAINST if least > 1 + ALIKE or most < 1 - ALIKE else Outcome.OPEN


# -- estimates


def error_estimate(row: Row) -> Estimate:
    return Estimate(row.error, row.error_low, row.error_high)


def pulls_estimate(row: Row) -> Estimate:
    return Estimate(row.pulls, row.pulls_low, row.pulls_high)


def exact_estimate(value: float) -> Estimate:
    return Estimate(value, value, value)


def ratio_estimate(left: Row, right: Row) -> Estimate:
    """Return the ratio of pulls, with a normal interval from the relative standard errors."""
    value = left.pulls / right.pulls
    spread = math.hypot(left.pulls_se / left.pulls, right.pulls_se / right.pulls)
    return _normal_estimate(value, value * spread)


def mean_lead(pairs: Sequence[tuple[Row, Row]]) -> Estimate:
    """Return by how much less the left rows err, on average over these points."""
    if not pairs:
        return Estimate(math.nan, -math.inf, math.inf)
    total = sum(theirs.error - ours.error for ours, theirs in pairs)
    return _normal_estimate(total / len(pairs), _error_of_sum(pairs) / len(pairs))


def _error_of_sum(pairs: Sequence[tuple[Row, Row]]) -> float:
    """Return the standard error; errors of one seed add up, because its rows share their plays."""
    together: dict[int, float] = defaultdict(float)
    for pair in pairs:
        for row in pair:
            share = (row.failures + 1) / (row.runs + 2)  # never 0 or 1
            together[row.seed] += math.sqrt(share * (1 - share) / row.runs)
    return math.hypot(*together.values())


def _normal_estimate(value: float, error: float) -> Estimate:
    reach = 2.576 * error  # 99 %
    if not math.isfinite(reach):
        return Estimate(value, -math.inf, math.inf)
    return Estimate(value, value - reach, value + reach)


def matched_rows(rows: Iterable[Row], left: str, right: str) -> list[tuple[Row, Row]]:
    """Return pairs of rows of two series at the same place."""
    rows = list(rows)
    other = {row.place: row for row in rows if row.series == right}
    return [(row, other[row.place]) for row in rows if row.series == left and row.place in other]


def informative_pairs(pairs: Iterable[tuple[Row, Row]]) -> list[tuple[Row, Row]]:
    """Return the pairs except those that never fail both, or always."""
    return [pair for pair in pairs if {row.error for row in pair} not in ({0.0}, {1.0})]


def errs_less(rows: Iterable[Row], left: str, right: str) -> list[Outcome]:
    return [
        is_less(error_estimate(a), error_estimate(b))
        for a, b in informative_pairs(matched_rows(rows, left, right))
    ]


def errs_less_on_average(rows: Iterable[Row], left: str, right: str, *over: str) -> list[Outcome]:
    """Return one outcome per curve, of points that differ in these columns only."""
    curves: dict[tuple[object, ...], list[tuple[Row, Row]]] = defaultdict(list)
    for pair in matched_rows(rows, left, right):
        fixed = {"experiment", "n", "k", "budget"} - set(over)
        curves[tuple(getattr(pair[0], name) for name in sorted(fixed))].append(pair)
    samples = [pairs for curve in curves.values() if (pairs := informative_pairs(curve))]
    return [is_less(exact_estimate(0), mean_lead(pairs)) for pairs in samples]


def pulls_less(rows: Iterable[Row], left: str, right: str) -> list[Outcome]:
    return [
        is_less(pulls_estimate(a), pulls_estimate(b)) for a, b in matched_rows(rows, left, right)
    ]


def pulls_alike(rows: Iterable[Row], left: str, right: str) -> list[Outcome]:
    return [
        is_alike(pulls_estimate(a), pulls_estimate(b)) for a, b in matched_rows(rows, left, right)
    ]
