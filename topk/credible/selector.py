"""`credible`: stop when few pools like this one would still end with too much regret (ours).

The pool is taken as a sample of a population that is fitted to its own answers, with the fit's
uncertainty (population.py, posterior.py). The promise is an average over such pools and never a
worst case. Model, calibration, cost and failures: docs/credible.md.
"""

from typing import Any, ClassVar

import numpy as np

from topk.options import Option
from topk.population_summary import PopulationSummary
from topk.problem import ProblemError
from topk.promise import Goal, Promise
from topk.selector import Counts, Floats, Selector, Standing
from topk.water_filling import level

from .goodness_of_fit import GoodnessOfFit
from .population import prior_from, summary
from .population_summary import summarised
from .posterior import Posterior
from .posterior_risk import PosteriorRisk

LEAST = 2  # answers of every worker before a stop: with fewer nothing but the prior would speak
DRAWS, MOST_DRAWS = 400, 3200
BATCH = 0.05  # of the answers so far: smaller batches were measured to save nothing
LEVEL = 0.95  # of credible intervals, and of P(above the border) to call a worker settled
PARTS = 8  # in which a batch is shared out, each seeing the earlier ones
FITS = 0.9  # of a batch must find hands that are not full
EXPLORE = 1e-4  # added to P(on the wrong side), so that no worker is forgotten


class Credible(Selector):
    """Test whoever may stand on the wrong side; stop when the posterior risk is within delta."""

    name = "credible"
    title = "Credible"
    learns = True
    promise = Promise(
        Goal.AGGREGATE,
        "confidence",
        "Ours; calibrated by simulation, docs/credible.md",
        average=True,
    )
    interval = (
        f"{100 * LEVEL:g} % credible interval: where the worker's accuracy lies with that "
        "probability, given the fitted population"
    )
    known_options: ClassVar[tuple[Option, ...]] = (
        Option(
            "prior",
            None,
            "What an earlier run over such workers counts for: its tallies, a list of (right, "
            "answers, workers), and worth, the number of workers that all of them count as.",
            "object",
            by_hand=False,
        ),
        Option(
            "share",
            1.0,
            "Share of δ that it uses; 0.5 costs about a tenth more answers, for crowds that "
            "may be odder than those it was calibrated on.",
            above=0,
            most=1,
        ),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._risk: PosteriorRisk | None = None
        self._fit: GoodnessOfFit | None = None

    def _check(self) -> None:
        if self.problem.epsilon <= 0:
            raise ProblemError(f"{self.title} needs an epsilon above 0.")
        self._prior = prior_from(self.options["prior"])

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._risk = self._fit = None

    # -- judging

    def _posterior_risk(self) -> PosteriorRisk:
        """Judged once for each state, however often it is asked for."""
        if self._risk is None:
            self._risk = self._judge()
        return self._risk

    def _judge(self) -> PosteriorRisk:
        """Populations are drawn with the same luck at every look, and so the same when rebuilt.

        With new luck each time, whoever looks often would stop when it happens to be good.
        """
        problem, state = self.problem, self.state
        rng = np.random.default_rng([problem.n, problem.k])
        posterior = Posterior(state.rewards, state.pulls, self._prior, DRAWS, rng)
        delta = problem.delta * self.options["share"]
        judged = PosteriorRisk.of(posterior, problem.k, problem.epsilon, delta)
        for _ in range(DRAWS, MOST_DRAWS, DRAWS):
            if not (self._met and judged.unsure):
                break
            judged = judged.with_more(posterior.draw(DRAWS, rng))
        return judged

    def _rng(self) -> np.random.Generator:
        """The same for equal tallies, whoever has them: renumbering workers changes nothing."""
        return np.random.default_rng([int(self.state.pulls.sum()), int(self.state.rewards.sum())])

    @property
    def _met(self) -> bool:
        """Whether every worker has given enough answers to be judged."""
        return bool(self.state.pulls.min() >= LEAST)

    def _done(self) -> bool:
        return self._met and self._posterior_risk().holds

    def selection(self) -> Counts:
        return np.flatnonzero(self._posterior_risk().chosen)

    def standing(self) -> Standing:
        """Posterior means and credible intervals; the gap is 1 until every worker was met."""
        judged = self._posterior_risk()
        lower, upper = judged.posterior.interval(LEVEL)
        settled = np.where(judged.above >= LEVEL, 1, np.where(judged.above <= 1 - LEVEL, -1, 0))
        return Standing(
            mean=judged.posterior.mean[judged.posterior.group],
            lower=lower,
            upper=upper,
            verdict=self._final(),
            settled=settled.astype(np.int8),
            gap=judged.reached if self._met else 1.0,
            wanted=self.problem.epsilon,
        )

    def warnings(self) -> tuple[str, ...]:
        """A sentence when the fitted population does not look like what was observed."""
        sentence = self.goodness_of_fit().sentence if self.state.pulls.any() else ""
        return (sentence,) if sentence else ()

    def fitted(self) -> PopulationSummary | None:
        if not self.state.pulls.any():
            return None
        judged = self._posterior_risk()
        return summarised(judged.posterior, judged.border, self.goodness_of_fit().p_value)

    def goodness_of_fit(self) -> GoodnessOfFit:
        """The check of the fitted population: statistic, p-value and sentence."""
        if self._fit is None:
            self._fit = GoodnessOfFit.of(self._posterior_risk().posterior.population)
        return self._fit

    def summary(self, worth: float = 20) -> dict[str, Any]:
        """What a later run over such workers may be given as its option ``prior``."""
        return summary(self.state.rewards, self.state.pulls, worth)

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Everyone's first answers, then those of most use; a batch where no slots are given."""
        counts = self._introductions(pending, room)
        if slots is None and counts.any():
            return counts
        rng = rng or self._rng()
        slots = self._batch(pending) if slots is None else slots
        counts = self._cut(counts, slots, rng)
        useful = self._useful() - int((pending + counts).sum())
        left = min(slots - int(counts.sum()), useful)
        if left > 0 and self.state.pulls.any():
            counts += self._share_out(left, pending + counts, room - counts, rng)
        return counts

    def _introductions(self, pending: Counts, room: Counts) -> Counts:
        """What each worker lacks to have been met."""
        lacking: Counts = np.clip(LEAST - self.state.pulls - pending, 0, room)
        return lacking

    def _cut(self, counts: Counts, slots: int, rng: np.random.Generator) -> Counts:
        """At most ``slots`` of them, the workers who lack most first, ties by lot."""
        if counts.sum() <= slots:
            return counts
        order = rng.permutation(counts.size)
        cut = np.empty_like(counts)
        cut[order] = level(counts[order], slots)
        return cut

    def _batch(self, pending: Counts) -> int:
        return max(1, int(BATCH * self.state.pulls.sum()) - int(pending.sum()))

    def _useful(self) -> int:
        """Answers worth having out at once: at least a batch, and else no more than are needed.

        The regret's bound shrinks at least as fast as 1 / answers, so that the needed ones are at
        most answers x (epsilon reached / epsilon wanted - 1).
        """
        lacking = self._posterior_risk().reached / self.problem.epsilon - 1
        return int(self.state.pulls.sum() * max(BATCH, lacking)) + 1

    def _share_out(self, left: int, out: Counts, room: Counts, rng: np.random.Generator) -> Counts:
        """Draw workers in proportion to P(on the wrong side)^2 x posterior variance v.

        What is out counts as answered: a worker of mean m known as well as after s answers has
        v = m (1 - m) / (s + out + 1). One more answer takes v^2 / (m (1 - m)) off it, exactly,
        whatever the population.

        What falls to workers whose hands are full is not given to others, who are of less use; and
        when much would fall to them, fewer are asked altogether.
        """
        noise, known, wrong = self._knowledge()
        willing = (room > 0) | (out > 0)
        use = wrong**2 * noise * willing
        given = np.zeros(self.problem.n, np.int64)
        if not use.any():  # nobody has a question left
            return given
        for part in _parts(_fitting(left, use / (known + out + 1), room)):
            share = use / (known + out + given + 1)
            got = rng.multinomial(part, share / share.sum())
            given += np.minimum(got, room - given)
        return given

    def _knowledge(self) -> tuple[Floats, Floats, Floats]:
        """(n,) variance of an answer, what is known in answers, P(on the wrong side)."""
        judged = self._posterior_risk()
        group, mean = judged.posterior.group, judged.posterior.mean
        noise = mean * (1 - mean)
        known = np.maximum(noise / judged.posterior.variance - 1, 0.1)
        wrong = np.where(judged.chosen, 1 - judged.above, judged.above) + EXPLORE
        return noise[group], known[group], wrong


def _fitting(slots: int, use: Floats, room: Counts) -> int:
    """The most slots, in steps of a fifth, of which the hands take FITS."""
    share = use / use.sum()
    while slots > 1 and np.minimum(share * slots, room).sum() < FITS * slots:
        slots = int(slots * 0.8)
    return slots


def _parts(slots: int) -> list[int]:
    """As even as can be, at most PARTS of them."""
    return [len(part) for part in np.array_split(np.arange(slots), min(PARTS, slots))]
