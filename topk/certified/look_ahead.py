"""Whom to ask next: on the way that is foreseen to reach the stop.

docs/certified.md, section 8. Nothing here touches the promise.
"""

import math
from dataclasses import dataclass

import numpy as np

from .certificate import Bound, Certificate, Chosen, Counts, Floats, Tally

WORTH_ASKING = 0.7  # part of what the way brings that is worked for; the rest is dear
AHEAD = 1.6  # look up to the next horizon beyond this times the answers that workers have


@dataclass(frozen=True)
class LookAhead:
    """design   to work for
    lacking  so many answers are foreseen until the stop; infinite if it does not come on this way
    end      the bound foreseen at the end of the way
    ahead    (n,) answers that each is to give on the way; none if the stop comes without them
    """

    design: Bound
    lacking: float
    end: float
    ahead: Counts


def look_ahead(
    certificate: Certificate,
    chosen: Chosen,
    means: Floats,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> LookAhead | None:
    """The shortest horizon that suffices, else the last that is looked at (8.2)."""
    best: LookAhead | None = None
    for i in _horizons(certificate, tally, reach):
        ways = (
            _way(certificate, design, chosen, tally, reach, wanted)
            for design in certificate.designs(i, chosen, means, tally)
        )
        best = min(ways, key=lambda way: (way.lacking, way.end))
        if best.lacking < math.inf:
            break
    return best


def _horizons(certificate: Certificate, tally: Tally, reach: Counts) -> list[int]:
    """Those where somebody may still be asked; none after the first that is far ahead."""
    first = certificate.first(tally.pulls)
    if first is None:
        return []
    usable = [
        i
        for i in range(first, len(certificate.horizons))
        if (np.minimum(reach, certificate.horizons[i] - tally.pulls) > 0).any()
    ]
    far = AHEAD * tally.pulls.mean()
    near = sum(certificate.horizons[i] <= far for i in usable)
    return usable[: near + 1]


def _way(
    certificate: Certificate,
    design: Bound,
    chosen: Chosen,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> LookAhead:
    """Whoever gives most for an answer goes to the horizon first."""
    ahead, then = _end(certificate, design, chosen, tally, reach)
    fall = design.each - then
    use = np.where(ahead > 0, fall / np.maximum(ahead, 1), -np.inf)
    order = np.argsort(-use, kind="stable")
    fallen = np.cumsum(np.maximum(fall[order], 0))
    enough = int(np.searchsorted(fallen, design.total - wanted)) + 1
    needed = min(enough, int(np.searchsorted(fallen, WORTH_ASKING * fallen[-1])) + 1)
    lacking = float(ahead[order[:enough]].sum()) if enough <= fallen.size else math.inf
    ahead[order[needed:]] = 0
    return LookAhead(design, lacking, float(design.total - fallen[-1]), ahead)


def gain(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, reach: Counts
) -> Floats:
    """(n,) how much of the bound an answer takes away, on the way to the horizon (8.3)."""
    ahead, then = _end(certificate, design, chosen, tally, reach)
    now = certificate.again(design, chosen, tally).each
    return np.asarray((now - then) / np.maximum(ahead, 1))


def _end(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, reach: Counts
) -> tuple[Counts, Floats]:
    """(n,) answers up to the horizon, and the prices foreseen there with the means as they are."""
    ahead = np.clip(certificate.horizons[design.horizon] - tally.pulls, 0, reach)
    mean = (tally.right + 0.5) / (tally.pulls + 1)
    right = tally.right + np.rint(ahead * mean).astype(np.int64)
    return ahead, certificate.again(design, chosen, Tally(tally.pulls + ahead, right)).each
