"""Recorded answers of real workers to tasks with known answers."""

import hashlib
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from selection.imports import past_answers, row_parsers


class RecordedCrowd(past_answers.GradedAnswers):
    """Recorded answers of a crowd to tasks with known answers."""

    @cached_property
    def workers(self) -> list[str]:
        """Workers in the order of the file."""
        return list(dict.fromkeys(row.worker for row in self.answers))

    @cached_property
    def accuracy(self) -> dict[str, float]:
        return {worker: sum(right) / len(right) for worker, right in self.right.items()}

    @cached_property
    def kinds(self) -> list["RecordedCrowd"]:
        """The answers of each kind of task."""
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


def read_crowd(answers: Path, *golds: Path) -> RecordedCrowd:
    """Return the crowd of these files, with a gold file for each kind of task.

    Raises Refused, with file and line.
    """
    names = [str(path) for path in (answers, *golds)]
    text, *gold_texts = map(row_parsers.read_path, (answers, *golds))
    return RecordedCrowd(**vars(past_answers.read_kinds(text, gold_texts, names)))


def number_of(text: str) -> int:
    """Return a number below 2^64 that identifies this text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
