"""To whom a number of questions goes: docs/universal.md, section 5.

Nothing here touches the guarantee, which holds whoever is asked.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from .certificate import Bound, Chosen, Counts, Floats

PARTS = 8  # in which a batch is shared out, each seeing the earlier ones
LEAST_GAIN = 1e-7
# Added to P(on the wrong side), so that no worker is forgotten: of n = 100, and at most. In larger
# pools more workers are far from the border, and all of them together would be asked too much.
FLOOR, MOST_FLOOR, FLOOR_POWER = 0.03, 0.05, 1.5
GAIN_POWER, WRONG_POWER = 0.5, 1.0
PRICE_POWER = 0.5  # of the price, by which the use is divided: docs/prices.md, section 2


@dataclass(frozen=True)
class Use:
    """What an answer of each worker is good for; arrays are (n,).

    worth  how many answers what is known of the worker is worth
    now    the use of the next answer
    """

    worth: Floats
    now: Floats

    @classmethod
    def of(
        cls,
        known: tuple[Floats, Floats],
        chosen: Chosen,
        bound: Bound,
        gains: Floats,
        prices: Floats | None = None,
    ) -> "Use":
        """Return the use; by the money that an answer costs if there are (n,) prices."""
        mean, variance = known
        inside = np.where(chosen, mean - bound.c, bound.c - mean)
        floor = min(FLOOR * (100 / mean.size) ** FLOOR_POWER, MOST_FLOOR)
        wrong = scipy.special.ndtr(-inside / np.sqrt(variance)) + floor
        now = np.maximum(gains, LEAST_GAIN) ** GAIN_POWER * wrong**WRONG_POWER
        if prices is not None:
            now /= prices**PRICE_POWER
        return cls(np.maximum(mean * (1 - mean) / variance - 1, 0.0), now)

    def after(self, answers: Counts) -> Floats:
        """Return (n,) the use where so many more answers are given."""
        result: Floats = self.now * (self.worth + 1) / (self.worth + answers + 1)
        return result


def share_out(left: int, use: Use, out: Counts, room: Counts, rng: np.random.Generator) -> Counts:
    """Return (n,) at most ``left`` questions, in proportion to their use.

    What is out counts as answered. What falls to workers who have no room is not given to others.
    """
    given = np.zeros_like(out)
    willing = (room > 0) | (out > 0)
    if not willing.any():
        return given
    parts = min(PARTS, left)
    for part in range(parts):
        wanted = use.after(out + given) * willing
        size = left // parts + (part < left % parts)
        given += np.minimum(_rounded(wanted * (size / wanted.sum()), rng), room - given)
    return given


def _rounded(shares: Floats, rng: np.random.Generator) -> Counts:
    """Return whole numbers near the shares, with the same sum and the shares as their means."""
    ends = np.floor(np.cumsum(shares) + rng.random()).astype(np.int64)
    ends[-1] = min(ends[-1], round(float(shares.sum())))
    result: Counts = np.maximum(np.diff(ends, prepend=0), 0)
    return result
