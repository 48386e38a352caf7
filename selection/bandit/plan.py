"""Whom to ask next: on the way that is foreseen to reach the stop.

docs/certified.md, section 8. Nothing here touches the promise.
"""

import math
from dataclasses import dataclass

import numpy as np

from .certificate import Bound, Certificate, Chosen, Counts, Floats, Tally

AHEAD = 1.6  # look up to the next horizon beyond this times the answers that workers have


@dataclass(frozen=True)
class Plan:
    """design   to work for
    lacking  so many answers are foreseen until the stop; infinite if it does not come on this way
    end      the bound foreseen at the end of the way
    """

    design: Bound
    lacking: float
    end: float


def plan(
    certificate: Certificate,
    chosen: Chosen,
    means: Floats,
    tally: Tally,
    room: Counts,
    wanted: float,
) -> Plan | None:
    """The shortest horizon that suffices, else the last that is looked at (8.2)."""
    best: Plan | None = None
    for i in _horizons(certificate, tally, room):
        ways = (
            _way(certificate, design, chosen, tally, room, wanted)
            for design in certificate.designs(i, chosen, means, tally)
        )
        best = min(ways, key=lambda way: (way.lacking, way.end))
        if best.lacking < math.inf:
            break
    return best


def _horizons(certificate: Certificate, tally: Tally, room: Counts) -> list[int]:
    """Those where somebody may still be asked; none after the first that is far ahead."""
    first = certificate.first(tally.pulls)
    if first is None:
        return []
    usable = [
        i
        for i in range(first, len(certificate.horizons))
        if (np.minimum(room, certificate.horizons[i] - tally.pulls) > 0).any()
    ]
    far = AHEAD * tally.pulls.mean()
    near = sum(certificate.horizons[i] <= far for i in usable)
    return usable[: near + 1]


def _way(
    certificate: Certificate,
    design: Bound,
    chosen: Chosen,
    tally: Tally,
    room: Counts,
    wanted: float,
) -> Plan:
    """Whoever gives most for an answer goes to the horizon first."""
    ahead, then = _end(certificate, design, chosen, tally, room)
    fall = design.each - then
    order = np.argsort(-fall / np.maximum(ahead, 1), kind="stable")
    fallen = np.cumsum(np.maximum(fall[order], 0))
    at = int(np.searchsorted(fallen, design.total - wanted))
    lacking = float(ahead[order][: at + 1].sum()) if at < fallen.size else math.inf
    return Plan(design, lacking, float(design.total - fallen[-1]))


def gain(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, room: Counts
) -> Floats:
    """(n,) how much of the bound an answer takes away, on the way to the horizon (8.3)."""
    ahead, then = _end(certificate, design, chosen, tally, room)
    now = certificate.again(design, chosen, tally).each
    return np.asarray((now - then) / np.maximum(ahead, 1))


def _end(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, room: Counts
) -> tuple[Counts, Floats]:
    """(n,) answers up to the horizon, and the prices foreseen there with the means as they are."""
    ahead = np.clip(certificate.horizons[design.horizon] - tally.pulls, 0, room)
    mean = (tally.right + 0.5) / (tally.pulls + 1)
    right = tally.right + np.rint(ahead * mean).astype(np.int64)
    return ahead, certificate.again(design, chosen, Tally(tally.pulls + ahead, right)).each
