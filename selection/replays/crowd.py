"""Recorded answers of real workers to tasks with known answers."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from selection.errors import Refused
from selection.grading import scores
from selection.imports import keyed_answers, row_parsers
from selection.imports.keyed_answers import File, Key
from selection.imports.readers.archives import pack_folder
from selection.imports.row_parsers import AnswerRow, QuestionRow


@dataclass(frozen=True)
class RecordedCrowd:
    """Recorded answers of a crowd to tasks with known answers.

    answers   one for each worker and task, all of them to tasks in ``gold``
    grades    of the answers, from 0 to 1
    gold      the questions by their id
    left_out  number of further answers in the file, to tasks without a known answer
    idle      workers of the file with no answer to a task in ``gold``
    repeated  further rows of a worker for a task: the first counts, as in an import
    golds     ``gold`` by kind of task, in the order of the gold files
    """

    answers: Sequence[AnswerRow]
    grades: Sequence[float]
    gold: Mapping[str, QuestionRow]
    left_out: int
    idle: int
    repeated: int
    golds: Sequence[Mapping[str, QuestionRow]]

    @cached_property
    def right(self) -> dict[str, list[float]]:
        """Return, by worker, the grade of each recorded answer, in the order of the file."""
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
        return {worker: sum(right) / len(right) for worker, right in self.right.items()}

    @cached_property
    def kinds(self) -> list["RecordedCrowd"]:
        """The answers of each kind of task."""
        return [self] if len(self.golds) == 1 else [self._select_kind(gold) for gold in self.golds]

    def _select_kind(self, gold: Mapping[str, QuestionRow]) -> "RecordedCrowd":
        pairs = zip(self.answers, self.grades, strict=True)
        kept = [(row, grade) for row, grade in pairs if row.question in gold]
        answers, grades = [row for row, _ in kept], [grade for _, grade in kept]
        return replace(self, answers=answers, grades=grades, gold=gold, golds=[gold])


def read_crowd(
    answers: Path,
    *golds: Path,
    picked: Mapping[str, str] | None = None,
    leave_out: bool = False,
) -> RecordedCrowd:
    """Return the crowd of these files, with a gold file for each kind of task.

    answers    a file, or the folder of a program that evaluates models
    picked     results of models that were chosen, by the name of the choice
    leave_out  True if rows with an error are left out

    Raises Refused, with file and line.
    """
    raw = pack_folder(answers) if answers.is_dir() else row_parsers.read_path(answers)
    file = File(str(answers), raw, picked=picked or {}, leave_out=leave_out)
    kinds = [
        keyed_answers.read_key(File(str(path), row_parsers.read_path(path), leave_out=leave_out))
        for path in golds
    ]
    keyed = keyed_answers.read_keyed_answers(file, _merge_kinds(kinds, golds) if golds else None)
    keyed_answers.refuse_open_choices(keyed, file)
    if any(grade % 1 for grade in keyed.grades) or scores.KEY in _accepted_answers(keyed.key):
        raise Refused(
            f"{answers} has scores, which are not read here: use the page “Try it on past answers”."
        )
    _refuse_unanswered(kinds, {row.question for row in keyed.answers}, str(answers), golds)
    counts = (keyed.left_out, keyed.idle, keyed.repeated)
    return RecordedCrowd(keyed.answers, keyed.grades, keyed.key, *counts, kinds or [keyed.key])


def _accepted_answers(key: Key) -> set[str]:
    return {answer for question in key.values() for answer in question.accepted}


def _merge_kinds(kinds: Sequence[Key], golds: Sequence[Path]) -> Key:
    """Return the known answers of all kinds. Raises Refused for a task that is of two kinds."""
    files: dict[str, Path] = {}
    for kind, path in zip(kinds, golds, strict=True):
        for task in kind:
            if task in files:
                raise Refused(
                    f"The task “{task}” is in {files[task]} and in {path}: each task must be of "
                    "one kind."
                )
        files |= dict.fromkeys(kind, path)
    return {task: question for kind in kinds for task, question in kind.items()}


def _refuse_unanswered(
    kinds: Sequence[Key], answered: set[str], name: str, golds: Sequence[Path]
) -> None:
    for kind, path in zip(kinds, golds, strict=True):
        if answered.isdisjoint(kind):
            raise Refused(f"{name} has no answer to a task that {path} names the known answer of.")


def number_of(text: str) -> int:
    """Return a number below 2^64 that identifies this text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
