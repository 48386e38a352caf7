"""Beliefs about a crowd before it is tested, as pools that can be drawn from it.

A belief is never one population: it is an uncertain one, drawn anew for every pool. So the band of
a forecast is as wide as the uncertainty about the crowd, and not only as wide as luck.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy
from django.db.models import Count, QuerySet, Sum
from numpy.typing import NDArray

from selection.errors import Refused
from selection.models import Run
from selection.texts import counted
from selection.viewer_locale import format_figure

Floats = NDArray[np.float64]

MOST_PAST_RUNS = 200  # to choose from
MOST = 0.8  # share of the workers that "most" means
MEAN_SD, WIDTH_SD = 0.2, 0.35  # error of a guessed range: logit of mean, log of a + b
TWO_KINDS = 0.25  # share of crowds that consist of good workers and poor ones
KIND_WIDTH = 0.03  # standard deviation within a kind
USUAL_MEAN, USUAL_MEAN_SD = np.log(0.72 / 0.28), 0.5  # 0.58 to 0.83 in four of five crowds
USUAL_SIZE, USUAL_SIZE_SD = np.log(8.0), 0.6  # a + b of the Beta: 3.7 to 17


class Belief(Protocol):
    """An uncertain population of workers."""

    @property
    def words(self) -> str:
        """The belief as a sentence."""

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw (n,) accuracies, in no order, of a pool that is possible under the belief."""


@dataclass(frozen=True)
class RangeBelief:
    """Belief that four of five workers are in this range. Raises Refused for an invalid range."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < 1:
            raise Refused(
                "Give the range of most workers' accuracies as two numbers between 0 and 1, the "
                "lower number first, for example 0.6-0.9."
            )

    @property
    def words(self) -> str:
        ends = f"{format_figure(self.low)} and {format_figure(self.high)}"
        return f"Most workers (80%) have an accuracy between {ends}."

    @cached_property
    def _fit_beta(self) -> Floats:
        """(logit of the mean, log of a + b) of the Beta with a tenth below and a tenth above."""

        def off(x: Floats) -> Floats:
            mean, size = scipy.special.expit(x[0]), np.exp(x[1])
            shares = scipy.special.betainc(mean * size, (1 - mean) * size, [self.low, self.high])
            return np.asarray(shares - [(1 - MOST) / 2, (1 + MOST) / 2])

        middle = (self.low + self.high) / 2
        spread = (self.high - self.low) / 2.56
        guess = [
            scipy.special.logit(middle),
            np.log(max(middle * (1 - middle) / spread**2 - 1, 0.5)),
        ]
        bell: Floats = scipy.optimize.least_squares(off, guess).x
        return bell

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        mean, size = self._fit_beta + rng.standard_normal(2) * [MEAN_SD, WIDTH_SD]
        if rng.random() < TWO_KINDS:
            return _draw_two_groups(n, self.low, self.high, rng)
        return _draw_beta(n, mean, size, rng)


@dataclass(frozen=True)
class DefaultBelief:
    """Belief without any information: a mixture of crowds as they usually are."""

    @property
    def words(self) -> str:
        return (
            "Nothing is known about these workers. The forecast assumes crowds with a mean "
            "accuracy of 60–80%. Describe the workers for a tighter forecast."
        )

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        mean = USUAL_MEAN + USUAL_MEAN_SD * rng.standard_normal()
        size = USUAL_SIZE + USUAL_SIZE_SD * rng.standard_normal()
        if rng.random() < TWO_KINDS:
            return _draw_two_groups(n, rng.uniform(0.3, 0.6), rng.uniform(0.7, 0.95), rng)
        return _draw_beta(n, mean, size, rng)


def _draw_beta(n: int, mean: float, size: float, rng: np.random.Generator) -> Floats:
    middle, total = scipy.special.expit(mean), np.exp(size)
    return rng.beta(middle * total, (1 - middle) * total, n)


def _draw_two_groups(n: int, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Draw poor workers about ``low`` and good ones about ``high``, in unknown shares."""
    good = rng.random(n) < rng.uniform(0.1, 0.9)
    drawn = np.where(good, high, low) + KIND_WIDTH * rng.standard_normal(n)
    return np.clip(drawn, 0.01, 0.99)


@dataclass(frozen=True)
class PastBelief:
    """Belief in workers like these: right[i] of answers[i] answers were right. At least two."""

    source: str
    right: tuple[float, ...]
    answers: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.right) < 2:
            raise Refused(f"{self.source} has answers of fewer than two workers to learn from.")

    @property
    def words(self) -> str:
        return (
            f"The workers are like the {counted(len(self.answers), 'worker')} of "
            f"{self.source}, "
            f"with {counted(sum(self.answers), 'answer')}."
        )

    @cached_property
    def _shrunk_betas(self) -> tuple[Floats, Floats]:
        """(m,) a and b of each worker's Beta, shrunk towards the moments' Beta of all."""
        hits, answers = np.array(self.right, float), np.array(self.answers, float)
        mean = np.clip(hits.sum() / answers.sum(), 0.02, 0.98)
        luck = mean * (1 - mean) * np.mean(1 / answers)
        spread = max(float(np.mean((hits / answers - mean) ** 2)) - luck, 1e-3)
        size = np.clip(mean * (1 - mean) / spread - 1, 1.0, 100.0)
        return hits + mean * size, answers - hits + (1 - mean) * size

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        a, b = self._shrunk_betas
        past = rng.choice(a.size, n, p=rng.dirichlet(np.ones(a.size)))
        return rng.beta(a[past], b[past])


def past_belief(source: str, rights: Iterable[tuple[float, int]]) -> PastBelief:
    tallies = [(float(hits), int(answers)) for hits, answers in rights if answers > 0]
    return PastBelief(
        source, tuple(hits for hits, _ in tallies), tuple(count for _, count in tallies)
    )


def belief_from_named_run(name: str, among: QuerySet[Run]) -> PastBelief:
    runs = among.filter(name=name) or among.filter(pk=int(name) if _is_number(name) else 0)
    run = runs.order_by("-pk").first()
    if run is None:
        raise Refused(f"There is no run “{name}” to learn from.")
    return belief_from_run(run)


def belief_from_run(run: Run) -> PastBelief:
    """Raise Refused if this run is of no use for a belief."""
    if run.several:
        raise Refused(f"The run “{run.name}” is of several skills; learn from a run of one.")
    tallies = run.candidates.order_by("arm").values_list("rewards", "pulls")
    return past_belief(f"the run “{run.name}”", tallies)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def list_past_runs(runs: QuerySet[Run]) -> list[tuple[int, str]]:
    """List (pk, words) of the runs with one skill and answers that have ended, latest first."""
    ended = runs.filter(status=Run.Status.ENDED, further=None, candidates__pulls__gt=0)
    counts = Count("candidates"), Sum("candidates__pulls")
    rows = ended.order_by("-id").values_list("pk", "name", "pool__name", *counts)
    return [
        (pk, f"{name}: {counted(workers, 'worker')} of {pool}, {counted(answers, 'answer')}")
        for pk, name, pool, workers, answers in rows[:MOST_PAST_RUNS]
    ]
