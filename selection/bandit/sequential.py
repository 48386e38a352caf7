"""What algorithms share that look at every answer before they choose the next arm."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from .oracles import rivals
from .selector import Counts, Floats, Selector, Standing
from .state import Verdict

SPREAD = 64


class SequentialSelector(Selector):
    """Pulls every arm once, then the arms that ``_threats`` names, over and over.

    Its bounds hold for any sampling strategy, so answers may be batched and late.
    """

    @abstractmethod
    def _threats(self, pulls: Counts, means: Floats, open_: NDArray[np.bool_]) -> Counts:
        """The arms the paper pulls next at these counts and means, among those that are open."""

    @abstractmethod
    def _radius(self, pulls: Counts) -> Floats:
        """(n,) confidence radii at these counts; infinite without a pull."""

    @abstractmethod
    def _gap(self) -> float:
        """What the promise's regret is bounded by now."""

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        given = np.zeros(self.problem.n, np.int64)
        if slots is None:
            given[self._next(pending, room)] = 1
            return given
        while slots > 0:
            arms = self._next(pending + given, room - given)[:slots]
            if not arms.size:
                break
            each = np.minimum(1 + (slots - arms.size) // SPREAD, (room - given)[arms])
            given[arms] += each
            slots -= int(each.sum())
        return given

    def _next(self, pending: Counts, room: Counts) -> Counts:
        pulls, open_ = self.state.pulls + pending, room > 0
        fresh = np.flatnonzero((pulls == 0) & open_)
        if fresh.size:
            return fresh
        return self._threats(pulls, np.nan_to_num(self.means, nan=0.5), open_ & (pulls > 0))

    # -- judging

    def _done(self) -> bool:
        return bool(self.state.pulls.all()) and self._kept(self._gap())

    def _kept(self, gap: float) -> bool:
        """Whether this gap is small enough to stop: strictly below epsilon."""
        return gap < self.problem.epsilon

    def standing(self) -> Standing:
        radius, means = self._radius(self.state.pulls), np.nan_to_num(self.means, nan=0.5)
        lower, upper = means - radius, means + radius
        settled = np.zeros(self.problem.n, np.int8)
        settled[lower > rivals(upper, self.problem.k)] = Verdict.ACCEPTED
        settled[upper < rivals(lower, self.problem.k)] = Verdict.REJECTED
        verdict = self._final()
        return Standing(
            mean=self.means,
            lower=np.clip(lower, 0, 1),
            upper=np.clip(upper, 0, 1),
            verdict=verdict,
            settled=np.where(verdict == Verdict.UNDECIDED, settled, verdict),
            gap=min(1.0, self._gap()) if self.state.pulls.all() else 1.0,
            wanted=self.problem.epsilon,
        )
