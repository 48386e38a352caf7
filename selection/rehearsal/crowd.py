"""Crowds that answer by themselves: past answers of real workers, and workers made up by a seed."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from selection.errors import Refused
from selection.intake import files
from selection.intake.files import AnswerRow, BadRow
from selection.models import plain


class Crowd(Protocol):
    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        """What this worker answers to this question, always the same; None: nothing, ever."""


# -- past answers


@dataclass(frozen=True)
class RecordedCrowd:
    """Answers that a crowd once gave to tasks whose known answers we have.

    answers   one a worker and task, all of them to tasks in ``gold``
    left_out  how many more the file has, to tasks without a known answer
    idle      workers of the file who answered no task in ``gold``
    repeated  further rows of a worker for a task: the first counts, as in an import
    """

    answers: list[AnswerRow]
    gold: dict[str, str]
    left_out: int
    idle: int
    repeated: int = 0

    @cached_property
    def workers(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(row.worker for row in self.answers))

    @cached_property
    def right(self) -> dict[str, list[bool]]:
        """By worker, whether each of the recorded answers is right, in the order of the file."""
        found: dict[str, list[bool]] = defaultdict(list)
        for row in self.answers:
            found[row.worker].append(plain(row.response) == plain(self.gold[row.question]))
        return found

    @cached_property
    def accuracy(self) -> dict[str, float]:
        return {worker: sum(right) / len(right) for worker, right in self.right.items()}

    @cached_property
    def _responses(self) -> dict[tuple[str, str], str]:
        return {(row.worker, row.question): row.response for row in self.answers}

    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        return self._responses.get((worker, question))


def read(answers: Path, gold: Path) -> RecordedCrowd:
    """The crowd that these two files tell of. Raises Refused, with file and line."""
    rows, problems = files.answers(files.read_path(answers), str(answers))
    bad = [row for row in problems if not row.repeats]
    if bad:
        raise Refused(_first(bad, str(answers)))
    known = files.gold(files.read_path(gold), str(gold))
    columns = {"worker": [row.worker for row in rows], "task": [row.question for row in rows]}
    files.refuse_swapped("task", set(known), columns, "the tasks of the gold file")
    graded = [row for row in rows if row.question in known]
    if not graded:
        raise Refused(f"{answers} has no answer to a task that {gold} names the known answer of.")
    idle = {row.worker for row in rows} - {row.worker for row in graded}
    repeated = len(problems) - len(bad)
    return RecordedCrowd(graded, known, len(rows) - len(graded), len(idle), repeated)


def _first(bad: Sequence[BadRow], name: str) -> str:
    more = f" ({len(bad) - 1} more lines are bad)" if len(bad) > 1 else ""
    return f"{name}, line {bad[0].line}: {bad[0].why.rstrip('.')}{more}."


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
    def _labels(self) -> list[str]:
        """What to say to a question without choices when the right answer is not known."""
        return [label for label, _ in Counter(self.gold.values()).most_common(1000)]

    def respond(self, worker: str, question: str, choices: Sequence[str]) -> str | None:
        if worker not in self.accuracy or question not in self.gold:
            return None
        rng = _rng(self.seed, worker, question)
        known = self.gold[question]
        if rng.random() < self.accuracy[worker]:
            return known
        wrong = [other for other in choices or self._labels if plain(other) != plain(known)]
        return wrong[rng.integers(len(wrong))] if wrong else "no idea"


def accuracies(count: int, seed: int) -> dict[str, float]:
    """A quarter of the workers good, some two fifths like a coin, the others worse than that."""
    rng = np.random.default_rng([seed, count])
    good, fair = count // 4, round(count * 5 / 12)
    bands = [GOOD] * good + [FAIR] * fair + [POOR] * (count - good - fair)
    values = [round(rng.uniform(*band), 3) for band in bands]
    return {f"w{1 + i}": values[j] for i, j in enumerate(rng.permutation(count))}


def _rng(seed: int, worker: str, question: str) -> np.random.Generator:
    return np.random.default_rng([seed, number_of(worker), number_of(question)])


def number_of(text: str) -> int:
    """A number below 2^64 that is this text's own."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
