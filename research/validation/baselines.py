"""What people do today to choose workers, as rules that can be played on a pool.

None of these is in the app: none promises anything. Wilson's interval is that of statsmodels'
``proportion_confint(method="wilson")``, and the skills of Dawid and Skene are those of Crowd-Kit's
``OneCoinDawidSkene``; the tests hold both to that. (The two packages would bring half a gigabyte.)
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
ANSWERS_A_QUESTION = 5  # where nobody knows the right one: the usual number
ROUNDS, SETTLED = 100, 1e-7
LEAST = 1e-10  # of a probability, as in Crowd-Kit
FIRST = 10  # answers of everybody before anybody is dropped
TIES = 1e-6
QUESTIONS = (5, 10, 20, 50, 100)
MARKED = (10, 20, 50)


@dataclass(frozen=True)
class ChosenWorkers:
    """The workers taken.

    arms     those that are taken; perhaps none, where a pass mark decides
    answers  that were paid
    """

    arms: Counts
    answers: int


Play = Callable[[Floats, int, float, np.random.Generator], ChosenWorkers]


@dataclass(frozen=True)
class Baseline:
    """A rule to compare with.

    words  what is done, for a table
    marked   whether a pass mark decides how many are taken, instead of K
    known    what is known of it beforehand
    """

    name: str
    words: str
    play: Play
    known: str = "the price"
    marked: bool = False


# -- everybody answers as many questions


def best_of_all(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Return the best k by known answers; ties at random."""
    return ChosenWorkers(top_scores(rng.binomial(each, means) / each, k, rng), each * means.size)


def choose_passed(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Whoever has so large a share right."""
    right = rng.binomial(each, means)
    return ChosenWorkers(np.flatnonzero(right >= PASS_MARK * each), each * means.size)


def surely_passed(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Whose interval lies above the pass mark."""
    lower, _ = wilson_interval(rng.binomial(each, means), np.full(means.size, each))
    return ChosenWorkers(np.flatnonzero(lower >= PASS_MARK), each * means.size)


def top_scores(scores: Floats, k: int, rng: np.random.Generator) -> Counts:
    """(k,) the best; ties at random."""
    return np.argsort(-scores - TIES * rng.random(scores.size))[:k]


def wilson_interval(right: Counts, answers: Counts) -> tuple[Floats, Floats]:
    """(n,) the 95 % interval of each share. Wilson, JASA 22 (1927)."""
    share, square = right / answers, SURE**2
    middle = (share + square / (2 * answers)) / (1 + square / answers)
    spread = share * (1 - share) / answers + square / (4 * answers**2)
    reach = SURE * np.sqrt(spread) / (1 + square / answers)
    return middle - reach, middle + reach


# -- some are dropped on the way


def stop_and_drop(means: Floats, k: int, epsilon: float, rng: np.random.Generator) -> ChosenWorkers:
    """Ask nobody any more who is surely in or out by 95 % intervals, judged after every answer.

    All is over when the worst swaps within them lose no more than epsilon.
    """
    n = means.size
    answers = np.full(n, FIRST)
    right = rng.binomial(FIRST, means)
    while True:
        lower, upper = wilson_interval(right, answers)
        arms = top_scores(right / answers, k, rng)
        chosen = np.isin(np.arange(n), arms)
        if worst_swaps(lower[chosen], upper[~chosen]) <= epsilon * k:
            return ChosenWorkers(arms, int(answers.sum()))
        surely_in = lower > np.sort(upper)[-k - 1]
        surely_out = upper < np.sort(lower)[-k]
        asked = ~(surely_in | surely_out)
        right = right + (asked & (rng.random(n) < means))
        answers = answers + asked


def worst_swaps(lower: Floats, upper: Floats) -> float:
    """Return the most that the sum could gain by taking some of the rest instead of some taken."""
    pairs = min(lower.size, upper.size)
    gains = np.sort(upper)[::-1][:pairs] - np.sort(lower)[:pairs]
    return float(np.maximum(gains, 0).sum())


# -- nobody knows the right answers


def choose_by_majority(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Return the k who agree most often with the majority, one answer of theirs included."""
    labels = Labels.draw_labels(each, means, rng)
    return ChosenWorkers(top_scores(labels.majority_agreement(), k, rng), each * means.size)


def choose_by_dawid_skene(
    each: int, means: Floats, k: int, epsilon: float, rng: np.random.Generator
) -> ChosenWorkers:
    """Return the k of the greatest skill."""
    labels = Labels.draw_labels(each, means, rng)
    return ChosenWorkers(top_scores(labels.skills(), k, rng), each * means.size)


@dataclass(frozen=True)
class Labels:
    """Answers of yes or no: (a,) by whom, to which question, and whether it is yes."""

    worker: Counts
    question: Counts
    yes: NDArray[np.bool_]

    @classmethod
    def draw_labels(cls, each: int, means: Floats, rng: np.random.Generator) -> "Labels":
        """Everybody answers so many; questions are dealt to five at a time, whoever they are."""
        n = means.size
        worker = np.concatenate([rng.permutation(n) for _ in range(each)])
        groups = -(-n // ANSWERS_A_QUESTION)
        within = np.arange(n) % groups
        question = np.concatenate([turn * groups + within for turn in range(each)])
        truth = rng.random(groups * each) < 0.5
        right = rng.random(worker.size) < means[worker]
        return cls(worker, question, truth[question] == right)

    def majority_agreement(self) -> Floats:
        """(n,) the share of each worker's answers that the majority gave; ties count as no."""
        yes = np.bincount(self.question, self.yes) > np.bincount(self.question) / 2
        return self._worker_means(self.yes == yes[self.question])

    def skills(self) -> Floats:
        """(n,) how often each worker is right, and the right answers, fitted to each other.

        Dawid, Skene, Applied Statistics 28 (1979), one number a worker; begun with the votes.
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
        """Return (a,) how sure each answer is, if a question's is yes so surely."""
        said = share[self.question]
        return np.where(self.yes, said, 1 - said)

    def _worker_means(self, values: NDArray[np.generic]) -> Floats:
        """(n,) of each worker's own."""
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
