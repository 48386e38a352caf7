"""To whom a number of questions goes."""

from dataclasses import dataclass

import numpy as np

from .grid import Floats
from .posterior import Counts
from .posterior_risk import PosteriorRisk

PARTS = 8  # in which a batch is shared out, each seeing the earlier ones
FITS = 0.9  # of a batch must find hands that are not full
EXPLORE = 1e-4  # added to P(on the wrong side), so that no worker is forgotten
LEAST_KNOWN = 0.1
POWER = 1.5
EVEN_FROM, EVENER = 0.35, 1.5  # P(two groups) above which the power falls, and how fast


@dataclass(frozen=True)
class AnswerValue:
    """What an answer of each worker is good for; arrays are (n,).

    noise  variance of an answer
    known  how many answers what is known of the worker is worth
    wrong  P(on the wrong side of the border)
    power  of the use that questions are in proportion to: the less, the more evenly they spread
    """

    noise: Floats
    known: Floats
    wrong: Floats
    power: float = POWER

    @classmethod
    def of(cls, risk: PosteriorRisk) -> "AnswerValue":
        feared, group = risk.feared, risk.posterior.group
        noise = feared.mean * (1 - feared.mean)
        known = np.maximum(noise / feared.variance - 1, LEAST_KNOWN)
        above = feared.above(feared.border)
        wrong = np.where(risk.chosen, 1 - above, above) + EXPLORE
        return cls(noise[group], known[group], wrong, power_at(risk.posterior.draws.two_groups))

    def after(self, answers: Counts) -> Floats:
        """(n,) where so many more answers are given: (P(on the wrong side) x variance) ** power.

        A worker of mean m known as well as after s answers has variance m (1 - m) / (s + 1).
        """
        result: Floats = (self.wrong * self.noise / (self.known + answers + 1)) ** self.power
        return result


def power_at(two_groups: float) -> float:
    """0.5 to 1.5: the likelier two groups (0 to 1), the more evenly the questions are spread.

    Where many are alike, those who were lucky would get nearly all of them.
    """
    return POWER - EVENER * max(0.0, two_groups - EVEN_FROM)


def share_out(
    left: int, use: AnswerValue, out: Counts, room: Counts, rng: np.random.Generator
) -> Counts:
    """(n,) at most ``left`` questions, drawn in proportion to their use.

    What is out counts as answered. What falls to workers whose hands are full is not given to
    others, who are of less use; and when much would fall to them, fewer are asked altogether.
    """
    willing = (room > 0) | (out > 0)
    given = np.zeros_like(out)
    if not willing.any():  # nobody has a question left
        return given
    for part in _split_slots(_fitting_slots(left, use.after(out) * willing, room)):
        wanted = use.after(out + given) * willing
        # One by one: numpy's multinomial draws others where a last bit carries a share past a half.
        got = np.bincount(rng.choice(out.size, part, p=wanted / wanted.sum()), minlength=out.size)
        given += np.minimum(got, room - given)
    return given


def _fitting_slots(slots: int, use: Floats, room: Counts) -> int:
    """The most slots, in steps of a fifth, of which the hands take FITS."""
    share = use / use.sum()
    while slots > 1 and np.minimum(share * slots, room).sum() < FITS * slots:
        slots = int(slots * 0.8)
    return slots


def _split_slots(slots: int) -> list[int]:
    """As even as can be, at most PARTS of them."""
    parts = min(PARTS, slots)
    return [slots // parts + (part < slots % parts) for part in range(parts)]
