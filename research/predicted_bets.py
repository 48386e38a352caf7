"""Swaps of ``certified`` by bets on answers less their predictions: a rule that was tried.

docs/validation/predicted-answers has the proof, the figures, and why it is no rule of the core:
``python -m research.predicted_bets NAME.csv K RUNS`` compares both on recorded answers.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topk import THIS_SET, Problem
from topk.certified.selector import Certified
from topk.certified.swap_allocation import (
    BATCH_OF_ANSWERS,
    BATCH_OF_POOL,
    best_means,
    share_out,
)
from topk.certified.swap_loops import largest_value
from topk.certified.swap_prices import RATES, STANDS_STILL
from topk.certified.swaps import Swaps
from topk.certified.tally import Chosen, Counts, Floats, Tally
from topk.compiled import compiled

from .model_replays import DELTA, EPSILON, read_answers

RUIN = 0.8  # most of a wealth that one answer may take, unless the likelihood ratio takes more
SPREAD = 4.0  # prior variance of a question's difficulty, and ABILITY of a model's ability: logits
ABILITY = 2.0
STEPS = 4  # of Newton's method at each fit
REFIT = 1.03  # fit again once there are so many times the answers
LEAST_SHARE = 0.1  # least residual variance foreseen, as a part of the whole
# What the shrunk estimates are worth at the start: squared predictions, residual variance.
PRIOR_SLOPE, PRIOR_VARIANCE, PRIOR_OF_MODEL = 0.4, 4.0, 3.0
RICHEST = 1e280


@compiled
def place_bets(wealth, others, right, moved, spread, seen, total, share):  # type: ignore[no-untyped-def]
    """Multiply the wealth against each total of a model's right answers by the next bet.

    wealth  (totals, alternatives), changed in place; ``others`` (totals, alternatives) are those
            alternatives
    right   0 or 1: the answer; ``moved`` its prediction less the mean of all unseen questions
    spread  least and largest of such differences among the unseen
    seen    answers before, and those of them that are right; ``total`` questions of the set
    share   foreseen residual variance, as a part of p (1 - p)
    """
    asked, scored = seen
    left = total - asked
    for count in range(scored, total - (asked - scored) + 1):
        p = (count - scored) / left
        variance = p * (1 - p) * share
        for k in range(wealth.shape[1]):
            shift = min(max((others[count, k] - scored) / left, 0.0), 1.0) - p
            if shift == 0:
                continue
            bet = shift / variance if variance > 1e-12 else np.sign(shift) * 1e6
            if shift < 0:
                most, loss = max(RUIN, -shift / p), 1 - p - spread[0]
            else:
                most, loss = max(RUIN, shift / (1 - p)), p + spread[1]
            if abs(bet) * loss > most:
                bet = np.sign(shift) * most / loss
            factor = max(1 + bet * (right - p - moved), 0.0)
            wealth[count, k] = min(wealth[count, k] * factor, RICHEST)


class Difficulties:
    """Predictions of answers by abilities of models and difficulties of questions (Rasch 1960).

    predicted  (n, questions) the probability of a right answer
    """

    def __init__(self, n: int, questions: int) -> None:
        self.predicted = np.full((n, questions), 0.5)
        self._ability, self._ease = np.ones(n), np.zeros(questions)

    def fit(self, models: Counts, questions: Counts, right: Floats) -> None:
        """Fit to (a,) answers, from the last fit on."""
        for _ in range(STEPS):
            centre = float(self._ability.mean())
            step, weight = self._step(models, questions, right, questions, self._ease, 0, SPREAD)
            self._ease = self._ease + step
            variance = 1 / weight
            step, _ = self._step(models, questions, right, models, self._ability, centre, ABILITY)
            self._ability = self._ability + step
        logits = (self._ability[:, None] + self._ease) / np.sqrt(1 + np.pi * variance / 8)
        self.predicted = 1 / (1 + np.exp(-logits))

    def _step(
        self,
        models: Counts,
        questions: Counts,
        right: Floats,
        places: Counts,
        values: Floats,
        centre: float,
        spread: float,
    ) -> tuple[Floats, Floats]:
        """Return a Newton step of these values, and their precisions."""
        fit = 1 / (1 + np.exp(-self._ability[models] - self._ease[questions]))
        precision = np.bincount(places, fit * (1 - fit), values.size) + 1 / spread
        slope = np.bincount(places, right - fit, values.size) - (values - centre) / spread
        return np.clip(slope / precision, -2, 2), np.asarray(precision, np.float64)


class Bets:
    """The wealth of each model's bets, against each total of its right answers.

    alternatives  of each mixture, (totals, alternatives) lower totals
    """

    def __init__(self, n: int, questions: int, alternatives: list[Floats]) -> None:
        self.questions = questions
        self.asked, self.right = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._unseen = np.ones((n, questions), bool)
        self._difficulties = Difficulties(n, questions)
        self._others = [(lower, questions - lower[::-1]) for lower in alternatives]
        shapes = [(2, n, questions + 1, lower.shape[1]) for lower in alternatives]
        self._wealth = [np.ones(shape) for shape in shapes]
        self._prices = [np.zeros((2, n, RATES.size)) for _ in shapes]
        self._stale = np.ones((len(shapes), 2, n), bool)
        self._answers: list[tuple[int, int, int]] = []
        self._fit_at = 4 * n
        # (n,) sums of squared predictions, of predictions times residuals, and of squared
        # residuals without and with the prediction.
        self._squares, self._products, self._plain, self._rest = np.zeros((4, n))

    def meet(self, model: int, question: int, right: int) -> None:
        """Settle the bets on an answer, and predict anew once there are more answers."""
        asked, scored = int(self.asked[model]), int(self.right[model])
        unseen = self._difficulties.predicted[model][self._unseen[model]]
        moved = float(self._difficulties.predicted[model, question] - unseen.mean())
        slope, share = float(self.slopes[model]), float(self.shares[model])
        spread = slope * (unseen.min() - unseen.mean()), slope * (unseen.max() - unseen.mean())
        for wealth, others in zip(self._wealth, self._others, strict=True):
            for side in (0, 1):
                place_bets(
                    *(wealth[side, model], others[side], float(right), slope * moved, spread),
                    *((asked, scored), self.questions, share),
                )
        self._learn(model, moved, slope, right - (scored + 0.5) / (asked + 1))
        self.asked[model] += 1
        self.right[model] += right
        self._unseen[model, question] = False
        self._stale[:, :, model] = True
        self._answers.append((model, question, right))
        if len(self._answers) >= self._fit_at:
            models, questions, values = np.array(self._answers).T
            self._difficulties.fit(models, questions, values.astype(np.float64))
            self._fit_at = int(REFIT * len(self._answers)) + 1

    def _learn(self, model: int, moved: float, slope: float, rest: float) -> None:
        self._squares[model] += moved**2
        self._products[model] += moved * rest
        self._plain[model] += rest**2
        self._rest[model] += (rest - slope * moved) ** 2

    @property
    def slopes(self) -> Floats:
        """(n,) the regression of each model's residuals on predictions, shrunk; 0 to 1."""
        prior = PRIOR_SLOPE
        pooled = (self._products.sum() + prior) / (self._squares.sum() + prior)
        slopes = (self._products + prior * pooled) / (self._squares + prior)
        return np.asarray(np.clip(slopes, 0, 1))

    @property
    def shares(self) -> Floats:
        """(n,) the residual variance foreseen for each model, as a part of its own."""
        prior = PRIOR_VARIANCE, PRIOR_OF_MODEL
        pooled = (self._rest.sum() + prior[0]) / (self._plain.sum() + prior[0])
        shares = (self._rest + prior[1] * pooled) / (self._plain + prior[1])
        return np.asarray(np.clip(shares, LEAST_SHARE, 1))

    @property
    def means(self) -> Floats:
        """(n,) estimates of accuracy: regressions on the predictions."""
        left = self.questions - self.asked
        predicted, unseen = self._difficulties.predicted, self._unseen
        above = (predicted * unseen).sum(axis=1) / np.maximum(left, 1)
        above -= (predicted * ~unseen).sum(axis=1) / np.maximum(self.asked, 1)
        seen = np.where(self.asked > 0, self.right / np.maximum(self.asked, 1), 0.5)
        rest = np.clip(seen + self.slopes * above * (left > 0), 0, 1)
        return np.asarray((self.right + left * rest) / self.questions)

    def prices(self, law: int, chosen: Chosen) -> Floats:
        """Return (n, RATES) the prices (4.3) of packages/topk/docs/certified.md."""
        side = chosen.astype(np.int64)
        for model in np.flatnonzero(self._stale[law, side, np.arange(chosen.size)]).tolist():
            self._prices[law][side[model], model] = self._price(law, side[model], model)
            self._stale[law, side[model], model] = False
        return self._prices[law][side, np.arange(chosen.size)]

    def _price(self, law: int, side: int, model: int) -> Floats:
        right, wrong = self.right[model], self.asked[model] - self.right[model]
        possible = np.arange(right, self.questions - wrong + 1)
        wealth = self._wealth[law][side, model, possible]
        evidence = np.log(STANDS_STILL + (1 - STANDS_STILL) * wealth.mean(axis=1))
        reach = possible / self.questions
        reach = 1 - reach if side else reach
        return np.asarray(largest_value(reach[None], evidence[None], RATES)[0])


class PredictedSwaps(Swaps):
    """Swaps by the wealth of bets; further answers are foreseen by likelihoods."""

    bets: Bets

    def _gains(self, chosen: Chosen, tally: Tally, law: int = 0) -> Floats:
        gains = self.bets.prices(law, chosen) - chosen[:, None]
        if (tally.pulls == self.bets.asked).all():
            return gains
        now = Tally(self.bets.asked, self.bets.right)
        then = super()._gains(chosen, tally, law)
        return np.asarray(gains + then - super()._gains(chosen, now, law))


class PredictedAnswers(Certified):
    """``certified`` on a question set, by swaps, with bets in place of likelihoods."""

    def __init__(self, problem: Problem, questions: int) -> None:
        super().__init__(problem, accuracy=THIS_SET, questions=questions)
        swaps = PredictedSwaps(problem, self.quotas, questions)
        lower = [prices._lower.astype(np.float64) for prices in swaps._prices]
        self.bets = swaps.bets = Bets(problem.n, questions, lower)
        self.swaps = swaps

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Any) -> bool:
        return False

    def tell_answer(self, model: int, question: int, right: int) -> None:
        self.bets.meet(model, question, right)
        self.tell([model], [right])

    @property
    def _mean_estimates(self) -> Floats:
        if self._means is None:
            self._means = self.bets.means
        return self._means

    def _ask(
        self,
        slots: int | None,
        pending: Counts,
        room: Counts,
        rng: np.random.Generator | None,
    ) -> Counts:
        assert self.swaps is not None
        tally = self._tally
        batch = max(1, tally.pulls.size // BATCH_OF_POOL, int(BATCH_OF_ANSWERS * tally.pulls.sum()))
        chosen = best_means(self.quotas, self._mean_estimates, tally)
        left = self.questions - tally.pulls
        return share_out(self.swaps, chosen, tally, left, np.minimum(room, left), batch)


def replay(
    rule: str, table: NDArray[np.float64], k: int, epsilon: float, delta: float, seed: int
) -> tuple[int, float]:
    """Play ``predicted`` or ``certified`` on a table of answers.

    table  (models, questions) 0 or 1; each model meets the questions in an order of its own

    Returns the number of answers, and the loss of the selection.
    """
    rng = np.random.default_rng(seed)
    table = table[rng.permutation(len(table))]
    n, questions = table.shape
    orders = rng.permuted(np.tile(np.arange(questions), (n, 1)), axis=1)
    problem = Problem(n, k, epsilon, delta)
    selector: Certified = PredictedAnswers(problem, questions)
    if rule == "certified":
        selector = Certified(problem, accuracy=THIS_SET, questions=questions)
    while not selector.stop():
        counts = selector.ask()
        for model in np.flatnonzero(counts).tolist():
            start = selector.state.pulls[model]
            for question in orders[model, start : start + counts[model]]:
                right = int(table[model, question])
                if isinstance(selector, PredictedAnswers):
                    selector.tell_answer(model, question, right)
                else:
                    selector.tell([model], [right])
    means = table.mean(axis=1)
    best = float(np.sort(means)[-k:].mean())
    return int(selector.state.pulls.sum()), best - float(means[selector.selection()].mean())


def main(path: str, k: str, runs: str) -> None:
    table = read_answers(Path(path))
    for rule in ("certified", "predicted"):
        plays = [replay(rule, table, int(k), EPSILON, DELTA, seed) for seed in range(int(runs))]
        calls, losses = np.array(plays).T
        off = int((losses > EPSILON + 1e-9).sum())
        line = f"{rule}: {calls.mean():,.0f} calls, {off} of {runs} runs off by more than {EPSILON}"
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
