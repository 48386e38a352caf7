"""Graded answers in a compact form, read from files, a run or a question set."""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Q, QuerySet

from selection.errors import Refused
from selection.imports.keyed_answers import KeyedAnswers
from selection.imports.row_parsers import AnswerRow, QuestionRow
from selection.limits import MOST_REPLAYED, MOST_REPLAYED_WORKERS
from selection.models import Answer, QuestionSet, RecordedAnswer, Run

from .crowd import RecordedCrowd

Graded = tuple[str, str, float]
Tally = tuple[str, float, int]


@dataclass(frozen=True)
class AnswerRecord:
    """Graded answers: (worker, question, grade from 0 to 1), one for each worker and question.

    asked  the questions, in the order of the key
    key    the questions with their known answers; empty if they are stored already
    """

    rows: list[Graded]
    asked: list[str]
    key: list[QuestionRow]

    def pack(self) -> bytes:
        workers = list(dict.fromkeys(worker for worker, _, _ in self.rows))
        places = {worker: i for i, worker in enumerate(workers)}
        numbers = {question: i for i, question in enumerate(self.asked)}
        content = {
            "workers": workers,
            "asked": self.asked,
            "rows": [[places[w], numbers[q], _shorten(grade)] for w, q, grade in self.rows],
            "key": [asdict(question) for question in self.key],
        }
        return zlib.compress(json.dumps(content).encode())

    @classmethod
    def unpack(cls, packed: bytes) -> "AnswerRecord":
        content: dict[str, Any] = json.loads(zlib.decompress(packed))
        workers, numbers = content["workers"], content["asked"]
        rows = [(workers[w], numbers[q], float(grade)) for w, q, grade in content["rows"]]
        return cls(rows, numbers, [QuestionRow(**question) for question in content["key"]])

    def crowd(self) -> RecordedCrowd:
        answers = [AnswerRow(0, w, q, str(grade)) for w, q, grade in self.rows]
        gold = {key: QuestionRow(0, key, key, [], []) for key in self.asked}
        return RecordedCrowd(answers, [grade for *_, grade in self.rows], gold)

    @property
    def scored(self) -> bool:
        return any(grade % 1 for _, _, grade in self.rows)

    def tallies(self) -> list[Tally]:
        hits: dict[str, float] = defaultdict(float)
        for worker, _, grade in self.rows:
            hits[worker] += grade
        answers = Counter(worker for worker, _, _ in self.rows)
        return [(worker, _shorten(hits[worker]), count) for worker, count in answers.items()]


def _shorten(grade: float) -> float:
    """Store a whole number as such, which takes less space."""
    return grade if grade % 1 else int(grade)


def record_of_files(keyed: KeyedAnswers, name: str, bounded: bool = True) -> AnswerRecord:
    record = AnswerRecord(keyed.rows, list(keyed.key), list(keyed.key.values()))
    return _check_size(record, name, bounded)


def record_of_run(run: Run) -> AnswerRecord:
    """Record a run's answers, with recorded ones that it did not ask for."""
    if run.several:
        raise Refused(f"The run “{run}” tests several skills: choose a run with one.")
    return _record_of_runs([run], run.question_set, str(run))


def record_of_question_set(question_set: QuestionSet) -> AnswerRecord:
    uses = Q(question_set=question_set) | Q(further__question_set=question_set)
    runs = Run.objects.filter(uses).distinct()
    return _record_of_runs(list(runs), question_set, str(question_set))


def _record_of_runs(runs: list[Run], question_set: QuestionSet, name: str) -> AnswerRecord:
    keys = list(question_set.questions.filter(retired=None).values_list("key", flat=True))
    first: dict[tuple[str, str], float] = {}
    names = set(keys)
    for worker, question, grade in _graded_answers(runs, question_set, name):
        if question in names:  # one may have been retired since
            first.setdefault((worker, question), grade)
    if not first:
        raise Refused(f"“{name}” has no answers yet: choose another, or upload a file.")
    return _check_size(AnswerRecord([(*pair, r) for pair, r in first.items()], keys, []), name)


def _graded_answers(runs: list[Run], question_set: QuestionSet, name: str) -> Iterable[Graded]:
    """Yield the answers to these questions in these runs, without those of erased workers.

    Raises Refused if there are more than allowed.
    """
    answers = Answer.objects.filter(
        run__in=runs,
        void=False,
        assignment__candidate__worker__erased=None,
        assignment__question__question_set=question_set,
        assignment__question__retired=None,
    )
    yield from _read_all(
        answers.order_by("pk").values_list(
            "assignment__candidate__worker__key", "assignment__question__key", "right"
        ),
        name,
    )
    recorded = RecordedAnswer.objects.askable().filter(
        candidate__run__in=runs, candidate__worker__erased=None, question__question_set=question_set
    )
    rows = recorded.select_related("question", "candidate__worker").order_by("pk")
    for row in _read_all(rows, name):
        yield row.candidate.worker.key, row.question.key, row.question.grade(row.response)


def _read_all(rows: QuerySet[Any, Any], name: str) -> list[Any]:
    """Read all rows. Raises Refused if they are more than allowed, without reading the rest."""
    read = list(rows[: MOST_REPLAYED + 1])
    if len(read) > MOST_REPLAYED:
        raise _refuse_many(name, f"more than {MOST_REPLAYED:,} answers", MOST_REPLAYED)
    return read


def _check_size(record: AnswerRecord, name: str, bounded: bool = True) -> AnswerRecord:
    workers = len({worker for worker, _, _ in record.rows})
    if workers < 2:
        raise Refused(f"{name} has answers of one worker only: a selection needs two or more.")
    for count, most, noun in (
        (len(record.rows), MOST_REPLAYED, "answers"),
        (workers, MOST_REPLAYED_WORKERS, "workers"),
    ):
        if bounded and count > most:
            raise _refuse_many(name, f"{count:,} {noun}", most)
    return record


def _refuse_many(name: str, count: str, most: int) -> Refused:
    return Refused(
        f"{name} has {count}, and at most {most:,} can be tried here: leave some out, or use the "
        "command “manage.py replay”."
    )
