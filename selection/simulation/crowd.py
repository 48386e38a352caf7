"""Synthetic workers made by a seed, who answer questions."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from selection.models import normalise_text

GOOD = (0.92, 0.97)
FAIR = (0.47, 0.53)
POOR = (0.22, 0.28)


@dataclass(frozen=True)
class SyntheticCrowd:
    """Workers w1, w2, ... that know this gold with an accuracy of their own.

    accuracy  by worker
    gold      by question
    """

    accuracy: Mapping[str, float]
    gold: Mapping[str, str]
    seed: int = 0

    @cached_property
    def _answer_labels(self) -> list[str]:
        """Wrong answers to choose from for a question without choices."""
        return [label for label, _ in Counter(self.gold.values()).most_common(1000)]

    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        """Answer this question for this worker, always the same; None: never an answer."""
        if worker not in self.accuracy or question not in self.gold:
            return None
        rng = np.random.default_rng([self.seed, number_of(worker), number_of(question)])
        label = self.gold[question]
        if rng.random() < self.accuracy[worker]:
            return label
        wrong = [
            other
            for other in choices or self._answer_labels
            if normalise_text(other) != normalise_text(label)
        ]
        return wrong[rng.integers(len(wrong))] if wrong else "no idea"


def draw_accuracies(count: int, seed: int) -> dict[str, float]:
    """Draw accuracies: a quarter good, two fifths about like a coin, the others worse."""
    rng = np.random.default_rng([seed, count])
    good, fair = count // 4, round(count * 5 / 12)
    bands = [GOOD] * good + [FAIR] * fair + [POOR] * (count - good - fair)
    values = [round(rng.uniform(*band), 3) for band in bands]
    return {f"w{1 + i}": values[j] for i, j in enumerate(rng.permutation(count))}


def number_of(text: str) -> int:
    """Hash this text to a number below 2^64."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
