"""Our rules for all arms at a mark: closed tests, and answers where the population guarantees most.

The population of accuracies is fitted to all answers. It decides the next questions and nothing
else: acceptance follows from each arm's own evidence, under any population. docs/good-arms.md has
the proofs. Closed e-BH: Xu, Solari, Fischer, de Heide, Ramdas, Goeman, Bringing closure to false
discovery rate control, 2025; closed testing by averages: Vovk, Wang, Annals of Statistics 2021.
"""

import math
from abc import abstractmethod

import numpy as np

from topk.pass_mark import CAP, close_among
from topk.selector import Counts, Floats

from .evalues import Flags, GoodByEValues, pledge

GRID = (np.arange(60) + 0.5) / 60  # accuracies of the fitted population
ROUNDS, SMOOTHING = 30, 2.0  # of its fit; arms' worth of evenly spread accuracies
TRIED = 50  # numbers of accepted arms for which all sets are looked at
SHOWN = 0.5  # part of the remaining answers of an arm that are asked before the next look


class GoodByPopulation(GoodByEValues):
    """Asks the arms that, by the population, are accepted with the fewest answers."""

    @abstractmethod
    def _needed(self) -> float:
        """Compute the evidence that an arm needs to be accepted in the end."""

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Ask the arms of the highest index, as many as are still wanted, in turn.

        Outstanding answers count as if they had left the means as they are.
        """
        counts, total = np.zeros_like(room), 1 if slots is None else slots
        made = self.state.pulls + pending
        sums = np.asarray(np.nan_to_num(self.means, nan=0.5) * made, np.float64)
        good, bad = self._judge(made, sums)
        if self._is_over(good, bad):
            return counts
        index, answers = self._merits(sums, made - sums)
        arms = np.flatnonzero(~good & ~bad & (room > 0))
        arms = arms[np.argsort(-index[arms], kind="stable")]
        wanted = np.minimum(np.ceil(SHOWN * answers[arms]).astype(np.int64), room[arms])
        counts[arms] = share_out(wanted, max(1, self.problem.k - int(good.sum())), total)
        return counts

    def _merits(self, sums: Floats, losses: Floats) -> tuple[Floats, Floats]:
        """Compute (n,) the highest chance to be accepted per answer, and the answers for it.

        An arm of accuracy b is accepted after about c(b) answers. One that is given up after c of
        them is accepted with the chance of the accuracies b with c(b) <= c.
        """
        (right, wrong), place, many = np.unique(
            np.stack([sums, losses]), axis=1, return_inverse=True, return_counts=True
        )
        least = self.mark - self.problem.epsilon
        evidence = self._evidence(right, wrong)
        lacking = np.maximum(self._needed() - evidence, 0)
        above = GRID[least < GRID][::-1]
        chances = fit_population(right, wrong, many)[:, : -above.size - 1 : -1]
        costs = np.maximum(lacking[:, None] / _mean_evidence(above, least), 1)
        accepted = chances.cumsum(1)
        rates = accepted / ((chances * costs).cumsum(1) + (1 - accepted) * costs)
        best = rates.argmax(1)[:, None]
        index, answers = (np.take_along_axis(x, best, 1)[:, 0] for x in (rates, costs))
        return np.where(lacking > 0, index, 0)[place.ravel()], answers[place.ravel()]


class MarkShare(GoodByPopulation):
    """Closed e-BH: on average at most a share delta of the accepted are below."""

    name = "mark-share"
    title = "Mark share"
    guarantee = pledge("Ours, by closed e-BH of Xu, Solari and others 2025", mean_share=True)

    def _needed(self) -> float:
        return self._level - math.log(self.problem.k)

    def _accept(self, evidence: Floats) -> Flags:
        if self.options["asked_open"]:
            return super()._accept(evidence)
        order = np.argsort(-evidence, kind="stable")
        values = self.problem.delta * np.exp(np.minimum(evidence[order], CAP))
        sizes = list_sizes(values, self.problem.k, self._ever)[:TRIED]
        k = next((k for k in sizes if closes(values, k, self._ever)), 0)
        good = super()._accept(evidence)  # no more than the closed test, which may be cut short
        good[order[:k]] = True
        return good


class MarkAll(GoodByPopulation):
    """Closed testing: with probability 1 - delta no accepted arm is below."""

    name = "mark-all"
    title = "Mark all"
    guarantee = pledge("Ours, by closed testing of Vovk, Wang 2021")

    def _needed(self) -> float:
        return self._level

    def _accept(self, evidence: Floats) -> Flags:
        if self.options["asked_open"]:
            return evidence >= self._level
        gone = np.full(self._ever - evidence.size, -np.inf)
        logs = np.r_[evidence, gone] + math.log(self.problem.delta)
        return close_among(logs)[: evidence.size]


def list_sizes(values: Floats, most: int, ever: int) -> list[int]:
    """List the k, highest first, that the sets with one, and with all, of the first k allow.

    values  as of ``closes``, which looks at all sets
    """
    k, rest = np.arange(1, most + 1), values[::-1]
    below = np.searchsorted(rest, 1 / k)  # of the arms after the first k
    lacking = (below + ever - values.size) / k - np.r_[0.0, rest.cumsum()][below]
    one = values[:most] - 1 / k >= np.maximum(lacking, 0) - 1e-12
    after = np.maximum(1 - rest, 0).cumsum()[::-1]
    every = (values - 1).cumsum()[:most] >= np.r_[after[1:], 0.0][:most] + ever - values.size - 1e-9
    return [int(size) for size in k[one & every][::-1]]


def closes(values: Floats, k: int, ever: int) -> bool:
    """Tell if each set of arms has enough evidence on average to accept the first k.

    values  (n,) evidence by delta, highest first; ``ever`` - n further arms have none
    """
    least = np.arange(1, k + 1) / k  # of a set with so many of the k arms, on average
    rest = np.r_[values[k:][::-1], 0.0]
    below = np.searchsorted(rest[:-1], least)
    lacking = (below + ever - values.size) * least - np.r_[0.0, rest[:-1].cumsum()][below]
    return bool((values[:k][::-1].cumsum() - least * np.arange(1, k + 1) >= lacking - 1e-12).all())


def fit_population(right: Floats, wrong: Floats, many: Counts) -> Floats:
    """Fit a population to tallies of so many arms; compute (m, GRID) chances of each accuracy."""
    logs = right[:, None] * np.log(GRID) + wrong[:, None] * np.log1p(-GRID)
    likelihood = np.exp(logs - logs.max(1, keepdims=True))
    weights = np.full(GRID.size, 1 / GRID.size)
    for _ in range(ROUNDS):
        chances: Floats = likelihood * weights
        chances /= chances.sum(1, keepdims=True)
        weights = (many @ chances + SMOOTHING / GRID.size) / (many.sum() + SMOOTHING)
    return chances


def share_out(wanted: Counts, width: int, total: int) -> Counts:
    """Give ``total`` pulls to the arms in order, in turn to ``width`` at a time."""
    counts = np.zeros_like(wanted)
    for start in range(0, wanted.size, width):
        part = wanted[start : start + width]
        while total > 0 and (counts[start : start + width] < part).any():
            lacking = np.flatnonzero(counts[start : start + width] < part)[:total]
            counts[start + lacking] += 1
            total -= lacking.size
    return counts


def _mean_evidence(above: Floats, least: float) -> Floats:
    """Compute the mean evidence of an answer by arms of these accuracies."""
    gain, loss = np.log(above / least), np.log((1 - above) / (1 - least))
    evidence: Floats = above * gain + (1 - above) * loss
    return evidence
