"""Evidence that one arm is not better than another by more than epsilon, on common questions.

docs/same-questions.md, section 2: on each question in turn that both arms have met, shares of a
wealth are bet that the other arm's advantage is less than epsilon.
"""

import math

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARES = np.array([0.02, 0.04, 0.08, 0.15, 0.27, 0.45, 0.7, 0.95])  # of the most that can be bet
ROUNDING = 1e-9


class PairEvidence:
    """ln of the evidence of ordered pairs of arms, as far as their answers were read.

    bound      the advantage that is excluded: the mean, or on a question set the least whole
               number of questions in all
    questions  0, or the size of the set that accuracy means
    """

    def __init__(self, n: int, epsilon: float, questions: int) -> None:
        self._questions = questions
        self._bound = math.floor(questions * epsilon + ROUNDING) + 1.0 if questions else epsilon
        self._place, self._seen = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
        self._lead, self._wealth = np.zeros((n, n)), np.zeros((n, n, SHARES.size))

    def read(self, answers: Floats, met: Counts, inside: Counts, outside: Counts) -> Floats:
        """Read on, and return (i, o) evidence that no arm outside is better than one inside.

        answers  (n, m) by question in the common order, NaN where there is none
        met      (n,) how many questions each arm has met
        """
        memory = (self._place, self._seen, self._lead, self._wealth)
        _bet(answers, met, inside, outside, *memory, SHARES, self._bound, self._questions)
        pairs = np.ix_(inside, outside)
        wealth = self._wealth[pairs]
        most = wealth.max(axis=2)
        finite = np.where(np.isfinite(most), most, 0.0)
        mean = np.exp(wealth - finite[:, :, None]).mean(axis=2)
        evidence: Floats = np.where(np.isfinite(most), finite + np.log(mean), most)
        return evidence


@compiled
def _bet(
    answers: Floats,
    met: Counts,
    inside: Counts,
    outside: Counts,
    place: Counts,
    seen: Counts,
    lead: Floats,
    wealth: Floats,
    shares: Floats,
    bound: float,
    questions: int,
) -> None:
    """Bet on each question that both arms of a pair have met, and that was not bet on before.

    place, seen, lead, wealth  by pair: questions passed, those with two answers, the sum of the
                               differences on these, and ln of the wealth by share
    """
    for i in inside:
        for j in outside:
            end = min(met[i], met[j])
            for t in range(place[i, j], end):
                difference = answers[j, t] - answers[i, t]
                if math.isnan(difference):
                    continue
                mean = bound  # of the next difference, at least, if j is better by the bound
                if questions > 0:
                    mean = (bound - lead[i, j]) / (questions - seen[i, j])
                if mean > 1 + 1e-12:
                    wealth[i, j] = np.inf
                elif mean < 1:
                    for s in range(shares.size):
                        factor = 1 + shares[s] * (mean - difference) / (1 - mean)
                        wealth[i, j, s] += math.log(factor)
                elif difference < 1:
                    wealth[i, j] = np.inf
                lead[i, j] += difference
                seen[i, j] += 1
            place[i, j] = max(place[i, j], end)
            if questions > 0 and seen[i, j] == questions and lead[i, j] < bound:
                wealth[i, j] = np.inf
