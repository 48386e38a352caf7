"""Allocation of a number of questions to workers."""

from dataclasses import dataclass

import numpy as np

from .grid import Floats
from .posterior import Counts
from .posterior_risk import PosteriorRisk

PARTS = 8  # a batch is shared out in so many parts, each seeing the earlier ones
FITS = 0.9  # least share of a batch for which workers have room
EXPLORE = 1e-4  # added to P(on the wrong side), so that no worker is forgotten
LEAST_KNOWN = 0.1
POWER = 1.5
EVEN_FROM, EVENER = 0.35, 1.5  # P(two groups) above which the power falls, and how fast


@dataclass(frozen=True)
class AnswerValue:
    """The value of an answer of each worker; arrays are (n,).

    noise  variance of an answer
    known  worth of the present knowledge of the worker, in answers
    wrong  P(on the wrong side of the border)
    power  of the use to which questions are proportional: the less, the more evenly they spread
    """

    noise: Floats
    known: Floats
    wrong: Floats
    power: float = POWER

    @classmethod
    def build(cls, risk: PosteriorRisk) -> "AnswerValue":
        feared, group = risk.feared, risk.posterior.group
        noise = feared.mean * (1 - feared.mean)
        types = np.maximum(noise / feared.variance - 1, LEAST_KNOWN)
        above = feared.above(feared.border)
        wrong = np.where(risk.chosen, 1 - above, above) + EXPLORE
        return cls(noise[group], types[group], wrong, power_at(risk.posterior.draws.two_groups))

    def after(self, answers: Counts) -> Floats:
        """Compute (n,) the use after so many more answers: (P(on the wrong side) x variance) **
        power.

        The accuracy of a worker of mean m, known as well as after s answers, has variance m (1 - m)
        / (s + 1).
        """
        result: Floats = (self.wrong * self.noise / (self.known + answers + 1)) ** self.power
        return result


def power_at(two_groups: float) -> float:
    """Compute 0.5 to 1.5: the likelier two groups (0 to 1), the more evenly the questions are
    spread.

    If many workers are alike, the lucky ones would otherwise get nearly all questions.
    """
    return POWER - EVENER * max(0.0, two_groups - EVEN_FROM)


def share_out(
    left: int, use: AnswerValue, out: Counts, room: Counts, rng: np.random.Generator
) -> Counts:
    """Compute (n,) at most ``left`` questions, drawn in proportion to their use.

    Outstanding questions count as answered. The share of workers without room is not given to
    others, whose use is less; and if that share is large, fewer questions are asked altogether.
    """
    willing = (room > 0) | (out > 0)
    shares = np.zeros_like(out)
    if not willing.any():  # no worker has a question left
        return shares
    for part in _split_slots(_fitting_slots(left, use.after(out) * willing, room)):
        weights = use.after(out + shares) * willing
        # One by one: numpy's multinomial draws differently if a last bit carries a share past 1/2.
        drawn = np.bincount(
            rng.choice(out.size, part, p=weights / weights.sum()), minlength=out.size
        )
        shares += np.minimum(drawn, room - shares)
    return shares


def _fitting_slots(slots: int, use: Floats, room: Counts) -> int:
    """Compute the most slots, in steps of a fifth, of which the workers' room takes FITS."""
    share = use / use.sum()
    while slots > 1 and np.minimum(share * slots, room).sum() < FITS * slots:
        slots = int(slots * 0.8)
    return slots


def _split_slots(slots: int) -> list[int]:
    """Choose at most PARTS parts, as equal as possible."""
    parts = min(PARTS, slots)
    return [slots // parts + (part < slots % parts) for part in range(parts)]
