"""Recorded answers of real workers to tasks with known answers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from selection.errors import Refused
from selection.grading import numbers
from selection.imports import keyed_answers, row_parsers
from selection.imports.keyed_answers import File, Key
from selection.imports.readers.archives import pack_folder
from selection.imports.row_parsers import AnswerRow, QuestionRow


@dataclass(frozen=True)
class RecordedCrowd:
    """Recorded answers of a crowd to tasks with known answers.

    answers  one for each worker and task, all of them to tasks in ``gold``
    grades   of the answers, from 0 to 1
    gold     the questions by their id
    """

    answers: Sequence[AnswerRow]
    grades: Sequence[float]
    gold: Mapping[str, QuestionRow]

    @cached_property
    def right(self) -> dict[str, list[float]]:
        """List, by worker, the grade of each recorded answer, in the order of the file."""
        by_worker: dict[str, list[float]] = defaultdict(list)
        for row, grade in zip(self.answers, self.grades, strict=True):
            by_worker[row.worker].append(grade)
        return by_worker

    @cached_property
    def workers(self) -> list[str]:
        """Workers in the order of the file."""
        return list(dict.fromkeys(row.worker for row in self.answers))

    @cached_property
    def accuracy(self) -> dict[str, float]:
        return {worker: sum(grades) / len(grades) for worker, grades in self.right.items()}


def open_file(path: Path, **ways: Any) -> File:
    """Open the file at this path, or the folder of a program that evaluates models, packed."""
    raw = pack_folder(path) if path.is_dir() else row_parsers.read_path(path)
    return File(str(path), raw, **ways)


def read_crowd(answers: Path, gold: Path) -> RecordedCrowd:
    """Read the crowd of these files. Raises Refused, with file and line, and for scores."""
    file = open_file(answers)
    keyed = keyed_answers.read_keyed_answers(file, open_file(gold))
    keyed_answers.refuse_open_choices(keyed, file)
    if any(grade % 1 for grade in keyed.grades) or numbers.KEY in _accepted_answers(keyed.key):
        raise Refused(
            f"{answers} has scores, which are not read here: use the page “Try it on past answers”."
        )
    return RecordedCrowd(keyed.answers, keyed.grades, keyed.key)


def _accepted_answers(key: Key) -> set[str]:
    return {answer for question in key.values() for answer in question.accepted}
