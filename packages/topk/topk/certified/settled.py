"""Workers that are certainly in the best selection, or certainly not: docs/certified.md, (5.4)."""

import numpy as np

from topk.best_sets import Quotas, kth_rival_values
from topk.state import Verdict

from .tally import Counts, Floats


def settled_by(quotas: Quotas, lower: Floats, upper: Floats) -> Counts:
    """Return (n,) a Verdict each, by (n,) intervals that all hold at once."""
    settled = np.zeros(lower.size, np.int64)
    for group, (least, most) in enumerate(zip(quotas.at_least, quotas.at_most, strict=True)):
        mine = np.flatnonzero(quotas.groups == group)
        settled[mine] = _sure_arms(lower[mine], upper[mine], int(least), int(most))
    return settled


def _sure_arms(lower: Floats, upper: Floats, least: int, most: int) -> Counts:
    """Return verdicts. Accepted: among the ``least`` best of its group. Rejected: not among
    ``most``.
    """
    settled = np.zeros(lower.size, np.int64)
    if most == 0:
        settled[:] = Verdict.REJECTED
    elif most < lower.size:
        settled[upper < kth_rival_values(lower, most)] = Verdict.REJECTED
    if least == lower.size:
        settled[:] = Verdict.ACCEPTED
    elif least > 0:
        settled[lower > kth_rival_values(upper, least)] = Verdict.ACCEPTED
    return settled
