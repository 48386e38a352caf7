"""`universal`: one likelihood ratio that bounds the error for every population (ours).

A run stops when the probability of its answers together with a wrong selection is at most delta
times their probability under a fixed reference measure, for every population that the workers may
have been drawn from. There is no union bound, no prior and no table. Proofs: docs/universal.md.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from topk.accuracy import ACCURACY, QUESTIONS
from topk.best_sets import top_arms
from topk.groups import GROUPS, check_groups, number_groups
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.prices import PRICES, UNRELATED
from topk.problem import ProblemError
from topk.selector import Counts, Floats, Selector, Standing
from topk.state import Verdict
from topk.water_filling import fill_level

from .allocation import borders, gains, known_of
from .certificate import Bound, Tally, certified
from .outstanding import worst_slices
from .sharing import Use, share_out

DRAWN = (
    "Assumes that before the run nothing distinguished the good workers from the others: they are "
    "independent draws from one population, about which nothing else is assumed. "
)
DRAWN_BY_GROUP = (
    "Assumes that before the run nothing distinguished the good workers of a group from the others "
    "of the group: those of a group are independent draws from one population, and nothing else is "
    "assumed about the populations of the groups. "
)
DURING = (
    "During the run nothing but answers distinguishes them: who is present, how fast they answer "
    "and who is withdrawn may follow from answers and chance, not from accuracy otherwise. "
)
INDEPENDENT = (
    "Also that a worker's answers are independent of each other and of those of other workers, and "
    "that questions come in random order. "
)
SHUFFLED = (
    "Also that questions come in a random order of each worker's own, and that whether a worker "
    "gets a question right does not depend on when it comes. "
)
STOP = "The guarantee is evaluated once, when the run stops."
FIRST = 3  # answers of each worker before answers are shared out by their use
BATCH, LARGEST_BATCH, STRIDE = 0.02, 0.1, 0.15  # of the answers so far
INTERVAL = 1.96  # standard deviations


class AnyPopulation(Selector):
    """Stops when log sup <= log(delta Q). Nothing is remembered but the tallies.

    Workers who were withdrawn after a question stay part of the likelihood (``State.gone``).
    Rewards are taken to be 0 or 1; a sum that is not whole is rounded, and then nothing is
    guaranteed.
    """

    name = "universal"
    title = "Universal"
    weighs_out = True
    says_accuracy = True
    guarantee = Guarantee(
        Goal.AGGREGATE,
        "confidence",
        "Ours, proved in docs/universal.md",
        within=", whatever population the workers come from",
        assumes=DRAWN + DURING + INDEPENDENT + STOP,
        at_the_stop=True,
    )
    interval = (
        "95 % credible interval for one worker at one look: where the accuracy lies with that "
        "probability if the population is as the reference measure takes it. Among all workers at "
        "all looks some are outside. The guarantee does not rest on it"
    )
    known_options: ClassVar[tuple[Option, ...]] = (ACCURACY, QUESTIONS, PRICES, GROUPS)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._delta = self.problem.delta
        self._forget()

    def _check(self) -> None:
        if self.problem.epsilon <= 0:
            raise ProblemError(f"{self.title} needs an epsilon above 0.")
        self.groups = check_groups(self.options["groups"], self.problem.n)
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
            self.guarantee = replace(self.guarantee, measure=measure)
        if self.groups is not None:
            within = ", whatever population each group of workers comes from"
            self.guarantee = replace(self.guarantee, within=within)
        self.guarantee = replace(self.guarantee, assumes=self._assumptions())

    def _assumptions(self) -> str:
        prices = UNRELATED if self.prices is not None else ""
        drawn = DRAWN if self.groups is None else DRAWN_BY_GROUP
        return prices + drawn + DURING + (SHUFFLED if self.questions else INDEPENDENT) + STOP

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._forget()

    def _forget(self) -> None:
        self._tally_now: Tally | None = None
        self._moments_now: tuple[Floats, Floats] | None = None
        self._bounds: dict[bytes, Bound] = {}

    @property
    def _tally(self) -> Tally:
        if self._tally_now is None:
            pulls = self.state.pulls.astype(np.float64)
            right = np.minimum(np.rint(self.state.rewards), pulls)
            gone_right, gone, _ = np.rint(self.state.gone)
            known, gone_known = self.groups, self.state.gone_groups
            groups = None if known is None else number_groups(known, gone_known)
            self._tally_now = Tally(
                right, pulls - right, gone_right, gone - gone_right, self.questions, groups
            )
        return self._tally_now

    # -- judging

    @property
    def _known(self) -> tuple[Floats, Floats]:
        """(n,) means and variances of accuracies under the reference measure."""
        if self._moments_now is None:
            mean, variance = np.empty(self.problem.n), np.empty(self.problem.n)
            for part, (here, _) in zip(self._tally.parts, self._tally.members, strict=True):
                mean[here], variance[here] = known_of(part)
            self._moments_now = mean, variance
        return self._moments_now

    def _bound(self, arms: Counts) -> Bound:
        """Return what is certified of these k arms, of the answers that are in."""
        key = arms.tobytes()
        if key not in self._bounds:
            chosen = self._chosen(arms)
            self._bounds[key] = certified(self._tally, chosen, self.problem.k, self._delta)
        return self._bounds[key]

    def _chosen(self, arms: Counts) -> Any:
        chosen = np.zeros(self.problem.n, np.bool_)
        chosen[arms] = True
        return chosen

    def _with_out(self, arms: Counts) -> float:
        """Return the epsilon that is certified of these arms, whatever the answers that are out."""
        slices = map(worst_slices, self._tally.parts, self._out())
        return self._bound(arms).epsilon(*slices)

    def _out(self) -> list[Counts]:
        """Return the answers of each group that are out, of the withdrawn last."""
        tally, waiting = self._tally, self.state.gone[2].astype(np.int64)
        gone = np.zeros(tally.gone_right.size, np.int64)
        gone[: waiting.size] = waiting  # the rest never answered
        return [np.r_[self.state.out[here], gone[left]] for here, left in tally.members]

    def _without_out(self, arms: Counts) -> float:
        """Return what would be certified of these arms if nothing were out."""
        slices = [part.reference.slices for part in self._tally.parts]
        return self._bound(arms).epsilon(*slices)

    def _is_done(self) -> bool:
        arms = self.selection()
        if self._bound(arms).hint > self.problem.epsilon:
            return False  # and no need of the proof
        return self._with_out(arms) <= self.problem.epsilon

    def is_held_up(self) -> bool:
        if not self.state.out.any() or self._is_done():
            return False
        return self._without_out(self.selection()) <= self.problem.epsilon

    def selection(self) -> Counts:
        """Return the k largest means by the reference measure; ties go to more right answers."""
        mean = self._known[0] + 1e-9 * (self.state.pulls > 0)
        return top_arms(mean, self.problem.k)

    def shortfall(self, arms: Counts) -> float:
        return self._with_out(np.sort(arms))

    def standing(self) -> Standing:
        (mean, lower, upper), arms = self._credible(), self.selection()
        border = self._bound(arms).c
        verdict = self._final()
        settled = np.where(
            verdict == Verdict.UNDECIDED, 1 * (lower > border) - 1 * (upper < border), verdict
        )
        return Standing(
            mean=mean,
            lower=lower,
            upper=upper,
            verdict=verdict,
            settled=settled.astype(np.int8),
            gap=self._with_out(arms),
            wanted=self.problem.epsilon,
        )

    def _credible(self) -> tuple[Floats, Floats, Floats]:
        """Return (n,) means and ends of the intervals of ``standing``."""
        mean, variance = self._known
        reach = INTERVAL * np.sqrt(variance)
        return mean, np.clip(mean - reach, 0, 1), np.clip(mean + reach, 0, 1)

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Return everyone's first answers, then those of most use."""
        made = self.state.pulls + pending
        counts: Counts = np.clip(FIRST - made, 0, room)
        if slots is None and counts.any():
            return counts
        if pending.any() and self.is_held_up():
            return np.zeros_like(pending)
        slots = self._batch(pending) if slots is None else slots
        if counts.sum() >= slots:
            return fill_level(counts, slots)
        left = min(slots - int(counts.sum()), self._useful() - int((pending + counts).sum()))
        if left > 0:
            arms = self.selection()
            chosen = self._chosen(arms)
            goal = self.problem.k * self.problem.epsilon
            bound = self._bound(arms).within(*borders(self._known[0], chosen, goal))
            worth = self._gains(chosen, bound)
            use = Use.of(self._known, chosen, bound, worth, self.prices)
            counts += share_out(left, use, pending + counts, room - counts, rng or self._rng())
        return counts

    def _gains(self, chosen: Any, bound: Bound) -> Floats:
        """Return (n,) how many nats an answer of each worker is foreseen to bring."""
        (mean, variance), worth = self._known, np.empty(self.problem.n)
        parts = zip(self._tally.parts, self._tally.members, bound.groups, strict=True)
        for part, (here, _), group in parts:
            worth[here] = gains(part, (mean[here], variance[here]), chosen[here], group)
        return worth

    def _rng(self) -> np.random.Generator:
        """Return the same luck for equal tallies, whoever has them."""
        return np.random.default_rng([int(self.state.pulls.sum()), int(self.state.rewards.sum())])

    def _lacking(self) -> float:
        """Return how many times the answers so far are still needed, about."""
        return (self._bound(self.selection()).hint / self.problem.epsilon) ** 2 - 1

    def _batch(self, pending: Counts) -> int:
        part = float(np.clip(STRIDE * self._lacking(), BATCH, LARGEST_BATCH))
        return max(1, int(part * self.state.pulls.sum()) - int(pending.sum()))

    def _useful(self) -> int:
        """Return how many answers are worth having out at once."""
        return int(self.state.pulls.sum() * max(BATCH, self._lacking())) + 1
