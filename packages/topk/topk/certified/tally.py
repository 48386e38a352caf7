"""The answers of all workers, as counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Tally:
    """(n,) numbers of answers and of right ones, int64, 0 <= right <= pulls.

    out  (n,) outstanding answers; None if there are none
    """

    pulls: Counts
    right: Counts
    out: Counts | None = None

    @property
    def requested(self) -> Counts:
        return self.pulls if self.out is None else self.pulls + self.out
