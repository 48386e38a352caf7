"""Identical errors: two workers that are wrong in the same way more often than by chance.

Right answers are alike because they are right. There may be many wrong ones, so the same wrong ones
again and again come from one source. The test is exact: of the workers that are wrong on a
question, any may as well have given any of the wrong answers that were given. So two of them agree
with probability sum c(c-1) / w(w-1), c of the w having given the same, on each question
independently. The skill of workers and the difficulty of questions do not matter: the test
conditions on the set of wrong workers and of wrong answers. If only one wrong answer is possible,
nothing is found.

Agreeing where it is rare weighs more, by how much likelier it is if one copies.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

TELLING = 0.8  # questions on which wrong workers agree more often say little, and are left out
WORK = 1e10  # at most so many multiplications: about a second
BLOCK = 512
LOOKED_AT = 300  # pairs that stand out most: only these are tested exactly
COPIED = 0.7  # weights are best against a copier of this share; any weights are valid
BINS, WIDTH = 2000, 0.05  # number and width of bins of the evidence that a pair could give
FINE = 4  # steps of a weight to a factor e

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two workers: of questions that ``both`` are wrong on, ``same`` have the same answer.

    expected  by chance
    chance    probability of any such pair in the whole pool, if no worker shares
    """

    one: int
    other: int
    same: int
    both: int
    expected: float
    chance: float


@dataclass(frozen=True)
class _WrongAnswers:
    """Wrong answers on telling questions; all but ``agree`` are (answers,), numbered from 0.

    agree  (questions,) probability that two wrong workers agree
    """

    workers: Ints
    questions: Ints
    answers: Ints
    agree: Floats


def identical_errors(
    workers: ArrayLike, questions: ArrayLike, answers: ArrayLike, rate: float
) -> list[Pair]:
    """Find the pairs that stand out, the most striking first.

    workers, questions  (w,) numbers from 0, each pair at most once: of wrong answers only
    answers             (w,) numbers, equal if the same was answered to the same question
    rate                probability at most that any pair is reported if no worker shares

    Work is bounded: of a large pool the workers with the most evidence in their wrong answers are
    compared.
    """
    return compare(workers, questions, answers, rate)[0]


def compare(
    workers: ArrayLike, questions: ArrayLike, answers: ArrayLike, rate: float
) -> tuple[list[Pair], Ints]:
    """Find the pairs of ``identical_errors``, and count (BINS,) pairs by possible evidence."""
    wrong = _informative_errors(
        *(np.asarray(each, np.int64) for each in (workers, questions, answers))
    )
    if not wrong.workers.size:
        return [], np.zeros(BINS, np.int64)
    chosen = _comparable_workers(wrong, rate)
    if chosen.size < 2:
        return [], np.zeros(BINS, np.int64)
    gave, was_wrong = _error_tables(wrong, chosen)
    ones, others, able = _striking_pairs(gave, was_wrong, wrong.agree)
    both = was_wrong[ones] * was_wrong[others] > 0
    same = _agreeing_errors(wrong, chosen, ones, others)
    weights = _integer_weights(wrong.agree)
    chance = _tail_probability(same @ weights, both, weights, wrong.agree)
    chance *= pairs_to_reckon_with(able, rate)
    pairs = [
        Pair(
            int(chosen[ones[i]]),
            int(chosen[others[i]]),
            int(same[i].sum()),
            int(both[i].sum()),
            float(both[i] @ wrong.agree),
            float(chance[i]),
        )
        for i in np.argsort(chance, kind="stable")
        if chance[i] <= rate
    ]
    return pairs, able


def _informative_errors(workers: Ints, questions: Ints, answers: Ints) -> _WrongAnswers:
    """Renumber the errors without questions on which agreement says little, or is impossible."""
    numbers, questions = np.unique(questions, return_inverse=True)
    keys, kinds, many = np.unique(
        np.stack([questions, answers]), axis=1, return_inverse=True, return_counts=True
    )
    wrong = np.bincount(questions, minlength=numbers.size).astype(float)
    alike = np.bincount(keys[0], many * (many - 1.0), numbers.size)
    agree = alike / np.maximum(wrong * (wrong - 1), 1)
    telling = (agree > 0) & (agree <= TELLING)
    rows = telling[questions]
    number = np.cumsum(telling) - 1
    return _WrongAnswers(
        workers[rows], number[questions[rows]], kinds.ravel()[rows], agree[telling]
    )


def _comparable_workers(wrong: _WrongAnswers, rate: float) -> Ints:
    """Find the workers that are wrong often enough to stand out; of many, those with most evidence.

    Two that agree wherever one of them is wrong come to the product of that one's probabilities and
    no lower.
    """
    evidence = np.bincount(wrong.workers, -np.log(wrong.agree[wrong.questions]))
    order = np.argsort(-evidence, kind="stable")[: int((evidence >= -np.log(rate)).sum())]
    columns = wrong.answers.max() + 1 + 3 * wrong.agree.size
    return np.sort(order[: int(np.sqrt(2 * WORK / columns))])


def _error_tables(
    wrong: _WrongAnswers, chosen: Ints
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Flag (chosen, wrong answers) answers given, and (chosen, questions) questions failed."""
    place = np.full(wrong.workers.max() + 1, -1)
    place[chosen] = np.arange(chosen.size)
    here = place[wrong.workers] >= 0
    rows, kinds = place[wrong.workers[here]], wrong.answers[here]
    shared, column, many = np.unique(kinds, return_inverse=True, return_counts=True)
    gave = np.zeros((chosen.size, shared.size), np.float32)
    gave[rows, column] = 1
    was_wrong = np.zeros((chosen.size, wrong.agree.size), np.float32)
    was_wrong[rows, wrong.questions[here]] = 1
    return np.ascontiguousarray(gave[:, many > 1]), was_wrong


def _striking_pairs(
    gave: NDArray[np.float32], was_wrong: NDArray[np.float32], agree: Floats
) -> tuple[Ints, Ints, Ints]:
    """Find the pairs that agree most beyond chance, in deviations, and (BINS,) all by evidence.

    Block by block, because there are many.
    """
    expected, spread, evidence = (
        was_wrong * each.astype(np.float32) for each in (agree, agree * (1 - agree), -np.log(agree))
    )
    best = (np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
    able = np.zeros(BINS, np.int64)
    for start in range(0, gave.shape[0], BLOCK):
        rows, rest = slice(start, start + BLOCK), was_wrong[start:].T
        upper = np.triu(np.ones((evidence[rows].shape[0], rest.shape[1]), bool), 1)
        bins = np.minimum((evidence[rows] @ rest)[upper] / WIDTH, BINS - 1).astype(np.int64)
        able += np.bincount(bins, minlength=BINS)
        beyond = gave[rows] @ gave[start:].T - expected[rows] @ rest
        beyond /= np.sqrt(np.maximum(spread[rows] @ rest, 1e-3))
        row, column = np.nonzero((beyond > 2) & upper)
        striking = (beyond[row, column].astype(float), row + start, column + start)
        best = tuple(np.concatenate(both) for both in zip(best, striking, strict=True))  # type: ignore
        top = np.argsort(-best[0], kind="stable")[:LOOKED_AT]
        best = (best[0][top], best[1][top], best[2][top])
    return best[1], best[2], able


def pairs_to_reckon_with(able: Ints, rate: float) -> float:
    """Count the pairs that could stand out; the others do not count. Tarone, Biometrics 46 (1990).

    able  (BINS,) pairs by the evidence there would be if they agreed wherever both are wrong
    """
    as_much = able[::-1].cumsum()[::-1]
    least = rate * np.exp(WIDTH * np.arange(BINS + 1))
    first = int(np.argmax(as_much <= least[1:]))
    return float(max(1.0, as_much[first], least[first]))


def _agreeing_errors(
    wrong: _WrongAnswers, chosen: Ints, ones: Ints, others: Ints
) -> NDArray[np.bool_]:
    """Flag (pairs, questions): True if both are wrong in the same way."""
    answer = np.full((chosen.size, wrong.agree.size), -1)
    place = np.full(wrong.workers.max() + 1, -1)
    place[chosen] = np.arange(chosen.size)
    rows = place[wrong.workers] >= 0
    answer[place[wrong.workers[rows]], wrong.questions[rows]] = wrong.answers[rows]
    agreed: NDArray[np.bool_] = (answer[ones] == answer[others]) & (answer[ones] >= 0)
    return agreed


def _integer_weights(agree: Floats) -> Ints:
    """Round the weights to whole numbers, so that the law of their sum is exact."""
    gain = np.log((COPIED + (1 - COPIED) * agree) / agree) - np.log(1 - COPIED)
    whole: Ints = np.maximum(1, np.round(FINE * gain)).astype(np.int64)
    return whole


def _tail_probability(
    reached: Ints, both: NDArray[np.bool_], weights: Ints, agree: Floats
) -> Floats:
    """Compute (pairs,) the probability of a sum of weights so great: of unequal coin tosses."""
    most = int(reached.max(initial=0))
    # law[i, j]: probability that j is still lacking to the pair's sum; 0 is absorbing.
    law = np.zeros((reached.size, most + 1))
    law[np.arange(reached.size), reached] = 1
    for question in np.flatnonzero(both.any(axis=0)):
        step = min(int(weights[question]), most)
        moved = law * np.where(both[:, question], agree[question], 0.0)[:, None]
        law -= moved
        law[:, : most + 1 - step] += moved[:, step:]
        law[:, 0] += moved[:, :step].sum(axis=1)
    return law[:, 0]
