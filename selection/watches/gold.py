"""Recording of gold answers: each worker answers each question once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from selection import db_clock
from selection.answers.recording import (
    ANSWERED_DIFFERENTLY,
    Outside,
    outside_choices,
    refuse_response,
)
from selection.db import bulk
from selection.errors import Answered, Refused
from selection.models import (
    DELETED,
    GoldAnswer,
    Question,
    Watch,
    WatchedWorker,
    plain_key,
    stored_spellings,
)

from .begin import refuse_stopped
from .steps import request_watch

ADDED, UNCHANGED, REFUSED = "added", "unchanged", "refused"
# Answers without a time were asked in the order in which they came.
TICK = timedelta(microseconds=1)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class GivenGold:
    """An answer as it was sent; ``asked`` is the time of asking, if the sender knows it."""

    worker: str
    question: str
    response: str
    asked: datetime | None = None


@dataclass(frozen=True)
class GoldFate:
    """The result for a row, counted from 1; ``why`` only if it was refused."""

    row: int
    result: str
    why: str = ""


def record_gold(
    watch: Watch, given: Sequence[GivenGold], outside: Outside = "refuse"
) -> list[GoldFate]:
    """Record these answers, in the order in which they were asked; return the result of each.

    outside  "refuse" or "wrong": the treatment of answers that are none of the choices

    The same answer again changes nothing. Raises Conflict if the watch is stopped.
    """
    refuse_stopped(watch)
    places = GoldPlaces(watch, given, outside)
    fates = [places.place_row(number, row) for number, row in enumerate(given, 1)]
    if not places.new:
        return fates
    if _insert(places) < len(places.new):
        fates = [places.compare_stored(fate, given[fate.row - 1]) for fate in fates]
    request_watch(watch.pk)
    return fates


def record_shown(watched: WatchedWorker, question: Question, response: str) -> None:
    """Record the answer to a question on the worker's page; it was asked just now.

    Raises Refused, OutsideChoices, Conflict if the watch is stopped, and Answered for a question
    with an answer: the first one counts.
    """
    refuse_stopped(watched.watch)
    refuse_response(response)
    if not question.allows(response):
        raise outside_choices(question.choices, response, question.kind)
    now = db_clock.request_time()
    columns: dict[str, Sequence[Any]] = {
        "watched_id": [watched.pk],
        "question_id": [question.pk],
        "asked": [now],
        "response": [response],
        "right": [question.grade(response)],
    }
    same = {"at": now, "counted": False}
    if not bulk.insert_rows(GoldAnswer, columns, same, ignore_conflicts=True):
        raise Answered(f"“{watched.worker}” has already answered question “{question.key}”.")
    request_watch(watched.watch_id)


def report_fates(fates: Sequence[GoldFate]) -> dict[str, Any]:
    """Describe the results as the API and the client have them."""
    counts = Counter(fate.result for fate in fates)
    numbers = {name: counts[name] for name in (ADDED, "changed", UNCHANGED, REFUSED)}
    return {**numbers, "rows": [vars(fate) for fate in fates]}


def _insert(places: "GoldPlaces") -> int:
    """Insert the new answers; return the number of those that were not there.

    They are in one order of the keys, so that concurrent inserts never deadlock.
    """
    rows = sorted((*pair, *rest) for pair, rest in places.new.items())
    columns: dict[str, Sequence[Any]] = {
        "watched_id": [row[0] for row in rows],
        "question_id": [row[1] for row in rows],
        "asked": [row[2] for row in rows],
        "response": [row[3] for row in rows],
        "right": [row[4] for row in rows],
    }
    same = {"at": places.now, "counted": False}
    return bulk.insert_rows(GoldAnswer, columns, same, ignore_conflicts=True)


@dataclass
class GoldPlaces:
    """The workers and questions that answers are about, looked up once for all of them.

    new     by watched worker and question, the time of asking, the response and its grade
    grades  by question and response: most responses are one of few choices
    """

    watch: Watch
    given: Sequence[GivenGold]
    outside: Outside = "refuse"
    new: dict[tuple[int, int], tuple[datetime, str, bool]] = field(default_factory=dict)
    grades: dict[tuple[int, str], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = db_clock.request_time()
        workers = stored_spellings({row.worker for row in self.given})
        rows = self.watch.workers.filter(worker__key__in=workers).order_by()
        states = rows.values_list("worker__key", "pk", "state")
        self.workers = {plain_key(key): (pk, state) for key, pk, state in states}
        keys = stored_spellings({row.question for row in self.given})
        questions = Question.objects.filter(question_set__watches=self.watch, key__in=keys)
        self.questions: dict[str, list[Question]] = {}
        for question in questions.order_by():
            self.questions.setdefault(plain_key(question.key), []).append(question)

    @cached_property
    def stored(self) -> dict[tuple[int, int], str]:
        """Find earlier responses of these workers to these questions."""
        ids = [pk for pk, _ in self.workers.values()]
        questions = [one.pk for rows in self.questions.values() for one in rows]
        answers = GoldAnswer.objects.filter(watched__in=ids, question__in=questions)
        rows = answers.exclude(at=self.now).order_by()
        stored = rows.values_list("watched_id", "question_id", "response")
        return {(watched, question): response for watched, question, response in stored}

    def place_row(self, number: int, row: GivenGold) -> GoldFate:
        try:
            return GoldFate(number, self._place(number, row))
        except Refused as refusal:
            return GoldFate(number, REFUSED, str(refusal))

    def _place(self, number: int, row: GivenGold) -> str:
        watched, question = self._find_worker(row.worker), self._find_question(row.question)
        pair = (watched, question.pk)
        if pair in self.new:
            return _compare(self.new[pair][1], row.response)
        refuse_response(row.response)
        if self.outside == "refuse" and not question.allows(row.response):
            raise outside_choices(question.choices, row.response, question.kind)
        moment = self.now + number * TICK
        time = moment if row.asked is None else max(EARLIEST, min(row.asked, moment))
        self.new[pair] = (time, row.response, self._grade(question, row.response))
        return ADDED

    def _grade(self, question: Question, response: str) -> bool:
        place = (question.pk, response)
        if place not in self.grades:
            self.grades[place] = question.grade(response)
        return self.grades[place]

    def compare_stored(self, fate: GoldFate, row: GivenGold) -> GoldFate:
        """Tell the result of a row, after some of the answers were found to be there."""
        if fate.result == REFUSED:
            return fate
        pair = (self._find_worker(row.worker), self._find_question(row.question).pk)
        if pair not in self.stored:
            return fate
        try:
            return GoldFate(fate.row, _compare(self.stored[pair], row.response))
        except Refused as refusal:
            return GoldFate(fate.row, REFUSED, str(refusal))

    def find_place(self, worker: str, key: str) -> tuple[int, Question]:
        """Find the watched worker and the question. Raises Refused also if it was answered."""
        watched, question = self._find_worker(worker), self._find_question(key)
        if (watched, question.pk) in self.stored:
            raise Answered(f"“{worker}” has already answered question “{key}”.")
        return watched, question

    def _find_worker(self, key: str) -> int:
        watched, state = self.workers.get(plain_key(key), (0, WatchedWorker.State.LEFT))
        if not watched:
            raise Refused(f"“{self.watch}” does not watch a worker “{key}”.")
        if state == WatchedWorker.State.LEFT:
            raise Refused(f"“{key}” is not watched any more: add them to “{self.watch}” again.")
        return watched

    def _find_question(self, key: str) -> Question:
        questions = self.questions.get(plain_key(key), [])
        if not questions:
            raise Refused(f"There is no question “{key}” in the question sets of this watch.")
        if len(questions) > 1:
            sets = " and ".join(f"“{question.question_set}”" for question in questions)
            raise Refused(f"Several question sets have a question “{key}”: {sets}. Rename one.")
        if questions[0].retired:
            raise Refused(f"Question “{key}” is retired: it does not count any more.")
        return questions[0]


def _compare(first: str, response: str) -> str:
    """Tell that nothing changes, or raise Answered for another response than the first one."""
    if first not in (response, DELETED):
        raise Answered(ANSWERED_DIFFERENTLY)
    return UNCHANGED
