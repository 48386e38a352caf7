"""`credible`: stop when few pools like this one would still end with too much regret (ours).

The pool is taken as a sample of a population that is fitted to its own answers, with the fit's
uncertainty (population.py, posterior.py). The guarantee is an average over such pools and never a
worst case. Model, calibration, cost and failures: docs/credible.md.
"""

from dataclasses import replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topk.guarantee import Doubt, Goal, Guarantee, ordinal
from topk.options import Option
from topk.population_summary import PopulationSummary
from topk.problem import ProblemError
from topk.selector import Counts, Floats, Selector, Standing
from topk.water_filling import fill_level

from .allocation import AnswerValue, share_out
from .goodness_of_fit import GoodnessOfFit
from .hidden_gaps import CAUTIOUS_SHARE, DOUBTFUL, GAPS, LARGE, LONG, MUCH, VERY_LONG, run_length
from .population import Prior
from .population_summary import summarise_population
from .posterior import Posterior
from .posterior_risk import PosteriorRisk
from .standouts import EARLY, name_limits, warn_of_standouts

LEAST = 2  # answers of a worker that counts as met
ENOUGH = 20  # workers, or half of a smaller pool, must be met before a stop, and k in any case
DRAWS, MOST_ROUNDS = 400, 8
STRIDE, LARGEST_BATCH = 0.2, 0.5
BATCH = 0.05  # of the answers so far: smaller batches were measured to save nothing
LEVEL = 0.95  # of credible intervals, and of P(above the border) to call a worker settled

WITH_GAPS = (
    "pools like this one, also where the best workers stand apart from the others by a gap of "
    f"{min(GAPS):g} or more"
)
GAP = (
    "The guarantee assumes that accuracies around the {kth} best differ little by little. So few "
    "answers do not show whether the best stand apart by a gap instead: if they do, this "
    "selection breaks ε with a probability of about {risk:.0f} %, not {delta:g} %. “universal” "
    "keeps {delta:g} % there too."
)
UNMET = (
    "{workers} gave fewer than two answers, too few to be judged by. The guarantee assumes that "
    "they are like the others of the pool; it may fail if the best workers answer least."
)
UP_TO_THEM = (
    "What is not known of them is all that keeps the wanted ε from being reached: nobody else is "
    "asked any more."
)


class Credible(Selector):
    """Tests the workers that may be on the wrong side; stops when the posterior risk is within
    delta.
    """

    name = "credible"
    title = "Credible"
    covers_leavers = False
    guarantee = Guarantee(
        Goal.AGGREGATE,
        "confidence",
        "Ours; calibrated by simulation, docs/credible.md",
        average=True,
    )
    interval = (
        f"{100 * LEVEL:g} % credible interval for one worker at one look: where the accuracy lies "
        "with that probability, given the fitted population. Among all workers at all looks some "
        "are outside"
    )
    known_options: ClassVar[tuple[Option, ...]] = (
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
        if self._cautious:
            self.guarantee = replace(self.guarantee, among=WITH_GAPS)
        limits = name_limits(self.problem)
        self.guarantee = replace(self.guarantee, limits=limits, early_limits=EARLY)

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._risk = self._fit = None

    # -- judging

    def _posterior_risk(self) -> PosteriorRisk:
        """Compute the risk, computed once for each state."""
        if self._risk is None:
            self._risk = self._judge()
        return self._risk

    def _judge(self) -> PosteriorRisk:
        """Compute the risk, with the same random draws at every look, and so the same when rebuilt.

        With new draws each time, a run that is looked at often would stop at a lucky one.
        """
        problem, state = self.problem, self.state
        posterior = Posterior(state.rewards, state.pulls, Prior(), problem.k, DRAWS)
        delta = problem.delta * self.options["share"]
        if self._cautious:
            posterior, delta = posterior.fearing_gaps(), delta * CAUTIOUS_SHARE
        risk = self._refine_risk(PosteriorRisk.build(posterior, self._met, problem.epsilon, delta))
        return self._doubt_gaps(risk) if self._enough and risk.is_met else risk

    def _refine_risk(self, risk: PosteriorRisk) -> PosteriorRisk:
        """Compute the risk with as many populations as it takes to be sure of it."""
        while self._enough and risk.unsure and risk.bound.rounds < MOST_ROUNDS:
            risk = risk.refined()
        return risk

    def _doubt_gaps(self, risk: PosteriorRisk) -> PosteriorRisk:
        """Find the risk with a hidden gap for a run longer than runs on bells are, if that is far
        above delta.
        """
        if self._cautious or self._length(risk) < VERY_LONG:
            return risk
        feared = self._refine_risk(replace(risk.fearing_gaps(), delta=DOUBTFUL * risk.delta))
        return risk if feared.is_met else feared

    def _length(self, risk: PosteriorRisk) -> float:
        """Compute the present length of the run; bells take less than ``LONG``."""
        problem, odds = self.problem, risk.posterior.gap_odds()
        pulls = float(self.state.pulls.mean())
        return run_length(odds, pulls, problem.n, problem.k, problem.epsilon, risk.delta)

    @property
    def _cautious(self) -> bool:
        return self.problem.n >= LARGE

    def _rng(self) -> np.random.Generator:
        """Seed a generator that depends on tallies only: renumbering workers changes nothing."""
        return np.random.default_rng([int(self.state.pulls.sum()), int(self.state.rewards.sum())])

    @property
    def _met(self) -> NDArray[np.bool_]:
        """(n,) True for workers with enough answers to be judged by them."""
        return self.state.pulls >= LEAST

    @property
    def _enough(self) -> bool:
        """True if enough workers were met for a stop: the rest are assumed to be like them.

        The run does not wait for more: workers that never answer, or give a single answer, would
        hold it up for ever, and the uncertainty about them is in the risk.
        """
        n, k = self.problem.n, self.problem.k
        return int(self._met.sum()) >= max(k, min(ceil(n / 2), ENOUGH))

    def _is_done(self) -> bool:
        return self._enough and self._posterior_risk().is_met

    def selection(self) -> Counts:
        return np.flatnonzero(self._posterior_risk().chosen)

    def standing(self) -> Standing:
        """Compute posterior means and credible intervals; the gap is 1 until enough workers were
        met.
        """
        risk = self._posterior_risk()
        average = risk.posterior.average
        lower, upper = average.interval(LEVEL)
        settled = np.where(risk.above >= LEVEL, 1, np.where(risk.above <= 1 - LEVEL, -1, 0))
        return Standing(
            mean=average.mean[risk.posterior.group],
            lower=lower,
            upper=upper,
            verdict=self._final(),
            settled=settled.astype(np.int8),
            gap=risk.reached if self._enough else 1.0,
            wanted=self.problem.epsilon,
        )

    def warnings(self) -> tuple[Doubt, ...]:
        """Write sentences for doubts in the guarantee: if the fitted population does not look like
        the answers, if workers are judged by it alone, or if a gap or standouts would break the
        guarantee.
        """
        fit = self.goodness_of_fit().doubt if self.state.pulls.any() else None
        sentences = {
            "few-answers": self._unmet(),
            "gap": self._gap_feared(),
            "nearly-equal": self._standouts_feared(),
        }
        doubts = (Doubt(code, sentence) for code, sentence in sentences.items() if sentence)
        return (*filter(None, [fit]), *doubts)

    def _standouts_feared(self) -> str:
        fitted = self.fitted() if self._is_done() else None
        return warn_of_standouts(self.problem, fitted) if fitted else ""

    def _gap_feared(self) -> str:
        """Compute the effect of a hidden gap on a guarantee that holds; empty if it is small, or if
        the run was as short as runs on bells are.
        """
        if self._cautious or not self._is_done():
            return ""
        problem, judged = self.problem, self._posterior_risk()
        feared = judged.fearing_gaps()
        risk = min(1.0, feared.risk(feared.epsilon)[0])
        if risk <= MUCH * problem.delta or self._length(judged) < LONG:
            return ""
        return GAP.format(kth=ordinal(problem.k), risk=100 * risk, delta=100 * problem.delta)

    def _unmet(self) -> str:
        """Write the warning about unmet workers; empty before enough were met, and if all were,
        or if ε holds whatever the others are like.
        """
        few, risk = int((~self._met).sum()), self._posterior_risk()
        if few == 0 or not self._enough:
            return ""
        blocked = risk.rests_with_the_unmet(self._met)
        if risk.holds_whatever(self._met):
            return ""
        sentence = UNMET.format(workers="1 worker" if few == 1 else f"{few} workers")
        return f"{sentence} {UP_TO_THEM}" if blocked else sentence

    def fitted(self) -> PopulationSummary | None:
        if not self.state.pulls.any():
            return None
        return summarise_population(
            self._posterior_risk().posterior, self.goodness_of_fit().p_value
        )

    def goodness_of_fit(self) -> GoodnessOfFit:
        """Compute the test of the fitted population: statistic, p-value and sentence."""
        if self._fit is None:
            posterior = self._posterior_risk().posterior
            self._fit = GoodnessOfFit.build(posterior.population, posterior.draws.effective)
        return self._fit

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Compute the first answers of all workers, then those of most use; a batch if no slots are
        given.
        """
        counts = self._introductions(pending, room)
        if slots is None and counts.any():
            return counts
        rng = rng or self._rng()
        slots = self._batch(pending) if slots is None else slots
        counts = self._cut(counts, slots, rng)
        useful = self._useful() - int((pending + counts).sum())
        rest = min(slots - int(counts.sum()), useful)
        risk = self._posterior_risk()
        if rest > 0 and self.state.pulls.any() and not risk.rests_with_the_unmet(self._met):
            use = AnswerValue.build(risk)
            counts += share_out(rest, use, pending + counts, room - counts, rng)
        return counts

    def _introductions(self, pending: Counts, room: Counts) -> Counts:
        """Compute the answers that each worker lacks to have been met."""
        lacking: Counts = np.clip(LEAST - self.state.pulls - pending, 0, room)
        return lacking

    def _cut(self, counts: Counts, slots: int, rng: np.random.Generator) -> Counts:
        """Choose at most ``slots`` of them, the workers who lack most first, ties by lot."""
        if counts.sum() <= slots:
            return counts
        order = rng.permutation(counts.size)
        cut = np.empty_like(counts)
        cut[order] = fill_level(counts[order], slots)
        return cut

    def _batch(self, pending: Counts) -> int:
        """Compute a share of the answers so far, the larger the farther the stop is."""
        share = float(np.clip(STRIDE * self._lacking(), BATCH, LARGEST_BATCH))
        return max(1, int(share * self.state.pulls.sum()) - int(pending.sum()))

    def _lacking(self) -> float:
        """Compute how many times the answers so far are still needed, at most.

        The regret's bound shrinks at least as fast as 1 / answers.
        """
        return self._posterior_risk().reached / self.problem.epsilon - 1

    def _useful(self) -> int:
        """Compute the number of useful outstanding answers: at least a batch, else no more than are
        needed.
        """
        return int(self.state.pulls.sum() * max(BATCH, self._lacking())) + 1
