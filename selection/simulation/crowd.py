"""Crowds that answer by themselves: past answers of real workers, and workers made up by a seed."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from selection.imports import past_answers, row_parsers
from selection.models import normalise_text


class Crowd(Protocol):
    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        """What this worker answers to this question, always the same; None: nothing, ever."""


# -- past answers


class RecordedCrowd(past_answers.GradedAnswers):
    """Answers that a crowd once gave to tasks whose known answers we have."""

    @cached_property
    def workers(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(row.worker for row in self.answers))

    @cached_property
    def accuracy(self) -> dict[str, float]:
        return {worker: sum(right) / len(right) for worker, right in self.right.items()}

    @cached_property
    def kinds(self) -> list["RecordedCrowd"]:
        """By kind of task, what was answered to tasks of that kind."""
        if len(self.golds) == 1:
            return [self]
        return [
            replace(
                self,
                answers=[row for row in self.answers if row.question in gold],
                gold=gold,
                golds=[gold],
            )
            for gold in self.golds
        ]

    @cached_property
    def _responses_by_pair(self) -> dict[tuple[str, str], str]:
        return {(row.worker, row.question): row.response for row in self.answers}

    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        return self._responses_by_pair.get((worker, question))


def read_crowd(answers: Path, *golds: Path) -> RecordedCrowd:
    """The crowd that these files tell of, with a gold file for each kind of task.

    Raises Refused, with file and line.
    """
    names = [str(path) for path in (answers, *golds)]
    text, *known = map(row_parsers.read_path, (answers, *golds))
    return RecordedCrowd(**vars(past_answers.read_kinds(text, known, names)))


# -- workers made up

GOOD = (0.92, 0.97)
FAIR = (0.47, 0.53)
POOR = (0.22, 0.28)


@dataclass(frozen=True)
class SyntheticCrowd:
    """Workers w1, w2, ... who know this gold with an accuracy of their own.

    accuracy  by worker
    gold      by question
    """

    accuracy: Mapping[str, float]
    gold: Mapping[str, str]
    seed: int = 0

    @cached_property
    def _answer_labels(self) -> list[str]:
        """What to say to a question without choices when the right answer is not known."""
        return [label for label, _ in Counter(self.gold.values()).most_common(1000)]

    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        if worker not in self.accuracy or question not in self.gold:
            return None
        rng = _seeded_rng(self.seed, worker, question)
        known = self.gold[question]
        if rng.random() < self.accuracy[worker]:
            return known
        wrong = [
            other
            for other in choices or self._answer_labels
            if normalise_text(other) != normalise_text(known)
        ]
        return wrong[rng.integers(len(wrong))] if wrong else "no idea"


def draw_accuracies(count: int, seed: int) -> dict[str, float]:
    """A quarter of the workers good, some two fifths like a coin, the others worse than that."""
    rng = np.random.default_rng([seed, count])
    good, fair = count // 4, round(count * 5 / 12)
    bands = [GOOD] * good + [FAIR] * fair + [POOR] * (count - good - fair)
    values = [round(rng.uniform(*band), 3) for band in bands]
    return {f"w{1 + i}": values[j] for i, j in enumerate(rng.permutation(count))}


def _seeded_rng(seed: int, worker: str, question: str) -> np.random.Generator:
    return np.random.default_rng([seed, number_of(worker), number_of(question)])


def number_of(text: str) -> int:
    """A number below 2^64 that is this text's own."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
