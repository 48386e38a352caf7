"""Common practice of choosing workers, as rules that can be simulated on a pool.

The app has none of them, because none has a guarantee. Wilson's interval is that of statsmodels'
``proportion_confint(method="wilson")``, and the skills of Dawid and Skene are those of Crowd-Kit's
``OneCoinDawidSkene``; tests compare both with these. (The two packages take half a gigabyte.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from research.cells import Floats

Counts = NDArray[np.int64]

PASS_MARK = 0.8
SURE = 1.959963984540054  # the normal quantile of 95 %
ANSWERS_A_QUESTION = 5  # without a key; the usual number
ROUNDS, SETTLED = 100, 1e-7
LEAST = 1e-10  # of a probability, as in Crowd-Kit
FIRST = 10  # answers per worker before any worker is dropped
TIES = 1e-6
QUESTIONS = (5, 10, 20, 50, 100)
MARKED = (10, 20, 50)


@dataclass(frozen=True)
class ChosenWorkers:
    """arms     the selected workers; perhaps none by a pass mark
    answers  number of paid answers.
    """

    arms: Counts
    answers: int


Play = Callable[[Floats, int, float, np.random.Generator], ChosenWorkers]


@dataclass(frozen=True)
class Baseline:
    """words   description for a table
    marked  True if a pass mark instead of K decides how many are selected
    known   what is known beforehand.
    """

    name: str
    words: str
    play: Play
    known: str = "the price"
    marked: bool = False


# -- equally many questions for all


def best_of_all(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Select the best k by gold questions; ties at random."""
    return ChosenWorkers(top_scores(rng.binomial(each, means) / each, k, rng), each * means.size)


def choose_passed(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Select all workers at or above the pass mark."""
    hits = rng.binomial(each, means)
    return ChosenWorkers(np.flatnonzero(hits >= PASS_MARK * each), each * means.size)


def surely_passed(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Select all workers with an interval above the pass mark."""
    lower, _ = wilson_interval(rng.binomial(each, means), np.full(means.size, each))
    return ChosenWorkers(np.flatnonzero(lower >= PASS_MARK), each * means.size)


def top_scores(scores: Floats, k: int, rng: np.random.Generator) -> Counts:
    """Return the (k,) best; ties at random."""
    return np.argsort(-scores - TIES * rng.random(scores.size))[:k]


def wilson_interval(right: Counts, answers: Counts) -> tuple[Floats, Floats]:
    """Return (n,) bounds of the 95 % interval of each share. Wilson, JASA 22 (1927)."""
    share, square = right / answers, SURE**2
    middle = (share + square / (2 * answers)) / (1 + square / answers)
    spread = share * (1 - share) / answers + square / (4 * answers**2)
    reach = SURE * np.sqrt(spread) / (1 + square / answers)
    return middle - reach, middle + reach


# -- workers dropped during the run


def stop_and_drop(means: Floats, k: int, epsilon: float, rng: np.random.Generator) -> ChosenWorkers:
    """Drop workers that 95 % intervals decide, after every answer; stop when the worst swaps within
    the intervals lose no more than epsilon.
    """
    n = means.size
    answers = np.full(n, FIRST)
    hits = rng.binomial(FIRST, means)
    while True:
        lower, upper = wilson_interval(hits, answers)
        arms = top_scores(hits / answers, k, rng)
        chosen = np.isin(np.arange(n), arms)
        if worst_swaps(lower[chosen], upper[~chosen]) <= epsilon * k:
            return ChosenWorkers(arms, int(answers.sum()))
        surely_in = lower > np.sort(upper)[-k - 1]
        surely_out = upper < np.sort(lower)[-k]
        open_ = ~(surely_in | surely_out)
        hits = hits + (open_ & (rng.random(n) < means))
        answers = answers + open_


def worst_swaps(lower: Floats, upper: Floats) -> float:
    """Return the largest gain of the sum by swaps, by bounds of the selected and of the rest."""
    pairs = min(lower.size, upper.size)
    gains = np.sort(upper)[::-1][:pairs] - np.sort(lower)[:pairs]
    return float(np.maximum(gains, 0).sum())


# -- questions without a key


def choose_by_majority(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Select the k that agree most often with the majority, their own answers included."""
    labels = Labels.draw_labels(each, means, rng)
    return ChosenWorkers(top_scores(labels.majority_agreement(), k, rng), each * means.size)


def choose_by_dawid_skene(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Select the k of greatest skill."""
    labels = Labels.draw_labels(each, means, rng)
    return ChosenWorkers(top_scores(labels.skills(), k, rng), each * means.size)


@dataclass(frozen=True)
class Labels:
    """Yes/no answers: (a,) worker, question, and True for yes."""

    worker: Counts
    question: Counts
    yes: NDArray[np.bool_]

    @classmethod
    def draw_labels(cls, each: int, means: Floats, rng: np.random.Generator) -> "Labels":
        """Draw ``each`` answers of every worker; each question goes to five random workers."""
        n = means.size
        worker = np.concatenate([rng.permutation(n) for _ in range(each)])
        groups = -(-n // ANSWERS_A_QUESTION)
        within = np.arange(n) % groups
        question = np.concatenate([turn * groups + within for turn in range(each)])
        truth = rng.random(groups * each) < 0.5
        grades = rng.random(worker.size) < means[worker]
        return cls(worker, question, truth[question] == grades)

    def majority_agreement(self) -> Floats:
        """Return (n,) shares of answers equal to the majority's; ties count as no."""
        yes = np.bincount(self.question, self.yes) > np.bincount(self.question) / 2
        return self._worker_means(self.yes == yes[self.question])

    def skills(self) -> Floats:
        """Return (n,) shares right, fitted together with the unknown keys.

        Dawid, Skene, Applied Statistics 28 (1979), one number per worker, from the votes on.
        """
        share = np.bincount(self.question, self.yes) / np.bincount(self.question)
        for _ in range(ROUNDS):
            before = share
            skill = np.clip(self._worker_means(self._right(share)), LEAST, 1 - LEAST)
            prior = share.mean()
            weight = np.log(skill / (1 - skill))[self.worker]
            odds = np.bincount(self.question, np.where(self.yes, weight, -weight))
            share = 1 / (1 + np.exp(-np.clip(odds + np.log(prior / (1 - prior)), -500, 500)))
            if np.abs(share - before).max() < SETTLED:
                break
        return self._worker_means(self._right(share))

    def _right(self, share: Floats) -> Floats:
        """Return (a,) probabilities that each answer is right, by those that a key is yes."""
        labels = share[self.question]
        return np.where(self.yes, labels, 1 - labels)

    def _worker_means(self, values: NDArray[np.generic]) -> Floats:
        """Return (n,) means of each worker's values."""
        return np.bincount(self.worker, values) / np.bincount(self.worker)


def _habits_for(
    questions: tuple[int, ...],
    name: str,
    words: str,
    play: Callable[..., ChosenWorkers],
    marked: bool = False,
) -> list[Baseline]:
    return [
        Baseline(
            f"{name}-{each}", f"{each} questions each{words}", partial(play, each), marked=marked
        )
        for each in questions
    ]


SAID = f"{PASS_MARK:.0%}".replace("%", " %")
ALL = (
    *_habits_for(QUESTIONS, "best", ", then the best K", best_of_all),
    *_habits_for(MARKED, "pass", f", pass mark {SAID}", choose_passed, marked=True),
    *_habits_for(
        MARKED, "wilson", f", Wilson's lower bound above {SAID}", surely_passed, marked=True
    ),
    Baseline("stop-and-drop", "Stop and drop by Wilson's bounds", stop_and_drop, "nothing"),
    *_habits_for(
        MARKED, "majority", ", not gold: who agree most with the majority", choose_by_majority
    ),
    *_habits_for(
        MARKED, "dawid-skene", ", not gold: the best by Dawid and Skene", choose_by_dawid_skene
    ),
)
HABITS = {habit.name: habit for habit in ALL}
