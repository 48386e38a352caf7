"""HDoC, LUCB-G and APT-G: good arm identification by Hoeffding's bound.

Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama: Good arm identification via bandit feedback,
Machine Learning 108, 2019. APT-G samples as Locatelli, Gutzeit, Carpentier, ICML 2016.
"""

import numpy as np

from topk.selector import Counts, Floats

from .base import Flags, GoodArms, pledge

KANO = "Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama 2019"


class ByIntervals(GoodArms):
    """Radius sqrt(ln(4 n N^2 / delta) / (2N)) of N pulls; both sides fail with .83 delta at most.

    The tolerance is ours: the paper accepts at the mark itself.
    """

    def _radius(self, pulls: Counts) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = np.sqrt((self._level + np.log(4.0 * pulls**2.0)) / (2 * pulls))
        return np.where(pulls > 0, radius, np.inf)

    def _judge(self, pulls: Counts, rewards: Floats) -> tuple[Flags, Flags]:
        means, radius = rewards / np.maximum(pulls, 1), self._radius(pulls)
        return means - radius >= self.mark - self.problem.epsilon, means + radius < self.mark

    def _bounds(self) -> tuple[Floats, Floats]:
        means, radius = np.nan_to_num(self.means, nan=0.5), self._radius(self.state.pulls)
        return np.clip(means - radius, 0, 1), np.clip(means + radius, 0, 1)


class HDoC(ByIntervals):
    """Upper confidence bounds of a narrow radius, sqrt(ln t / (2N))."""

    name = "hdoc"
    title = "HDoC"
    guarantee = pledge(f"{KANO}, Algorithm 1")

    def _index(self, pulls: Counts, means: Floats) -> Floats:
        return np.asarray(means + np.sqrt(np.log(pulls.sum()) / (2 * pulls)))


class LUCBG(ByIntervals):
    """The upper confidence bounds by which arms are rejected."""

    name = "lucb-g"
    title = "LUCB-G"
    guarantee = pledge(KANO)

    def _index(self, pulls: Counts, means: Floats) -> Floats:
        return np.asarray(means + self._radius(pulls))


class APTG(ByIntervals):
    """The arm that is hardest to tell from the mark: least sqrt(N) |mark - mean|."""

    name = "apt-g"
    title = "APT-G"
    guarantee = pledge(f"{KANO}; sampling of Locatelli, Gutzeit, Carpentier 2016")

    def _index(self, pulls: Counts, means: Floats) -> Floats:
        return np.asarray(-np.sqrt(pulls) * np.abs(self.mark - means))
