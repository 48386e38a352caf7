"""Recording of gold answers: each worker answers each question once."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from django.db import transaction

from selection import db_clock
from selection.answers import uncounted
from selection.answers.recording import (
    ANSWERED_DIFFERENTLY,
    TOO_LATE,
    Outside,
    outside_choices,
    refuse_response,
)
from selection.db import bulk
from selection.errors import Answered, Conflict, Met, NotFound, Refused, Retired, TooLate
from selection.models import (
    DELETED,
    GoldAnswer,
    GoldAnswerQuerySet,
    Question,
    Watch,
    WatchedWorker,
    plain_key,
)

from . import meetings
from .begin import refuse_stopped
from .steps import request_watch

ADDED, UNCHANGED, REFUSED = "added", "unchanged", "refused"
MET = "in a run, in another watch, or under another key"
PASSED_OVER = "Too late: questions asked later are counted, so that this one counts as not right."
# Answers without a time were asked in the order in which they came.
TICK = timedelta(microseconds=1)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class GivenGold:
    """An answer as it was sent.

    response  None: the question was asked or skipped, and waits for its answer
    asked     time of asking, if the sender knows it
    """

    worker: str
    question: str
    response: str | None
    asked: datetime | None = None


@dataclass(frozen=True)
class GoldFate:
    """The result for a row, counted from 1; ``why`` if it was refused or came too late."""

    row: int
    result: str
    why: str = ""


def record_gold(
    watch: Watch,
    given: Sequence[GivenGold],
    outside: Outside = "refuse",
    door: str = uncounted.API,
) -> list[GoldFate]:
    """Record these answers, in the order in which they were asked; return the result of each.

    outside  "refuse" or "wrong": the treatment of answers that are none of the choices
    door     where they came in, for answers that do not count

    The same answer again changes nothing. An answer with a time of asking stays open for the time
    to answer: others, to questions asked earlier, may be on their way. Raises Conflict if the watch
    is stopped.
    """
    if watch.stopped:
        note_uncounted(watch, given, outside, door)
    refuse_stopped(watch)
    places = GoldPlaces(watch, given, outside)
    fates = [places.place_row(number, row) for number, row in enumerate(given, 1)]
    if places.new:
        if _insert(places) < len(places.new):
            fates = _answer_waiting(places, fates)
        request_watch(watch.pk)
    places.note_refusals(door, fates)
    return fates


def note_uncounted(watch: Watch, given: Sequence[GivenGold], outside: Outside, door: str) -> None:
    """Note answers that are not taken; stored answers are repeats."""
    places = GoldPlaces(watch, given, outside)
    for number, row in enumerate(given, 1):
        fate = places.compare_stored(places.place_row(number, row), row)
        if watch.stopped and fate.result == ADDED:
            places.refuse(number, row, Conflict("The watch is stopped."))
    places.note_refusals(door)


@transaction.atomic
def _answer_waiting(places: "GoldPlaces", fates: Sequence[GoldFate]) -> list[GoldFate]:
    """Answer the questions that wait for it; compare the other rows with the stored ones."""
    places.__dict__.pop("stored", None)  # others were stored meanwhile
    compared = [places.compare_stored(fate, places.given[fate.row - 1]) for fate in fates]
    for (response, right), pks in places.answered.items():
        rows = GoldAnswer.objects.filter(pk__among=pks)
        rows.update(response=response, right=right, at=places.now, due=None)
    return compared


def record_shown(watched: WatchedWorker, question: Question) -> None:
    """Record that the worker sees this question, if it is new: its time to answer starts."""
    now = db_clock.database_now()
    limit = now + timedelta(minutes=watched.watch.minutes)
    row = GoldAnswer(watched=watched, question=question, asked=now, at=now, due=limit, right=False)
    GoldAnswer.objects.bulk_create([row], ignore_conflicts=True)


def record_response(watched: WatchedWorker, question_id: int, response: str) -> None:
    """Record the answer to a question that the worker was shown.

    Raises Refused, OutsideChoices, Conflict if the watch is stopped, Retired, TooLate, and Answered
    for a question with an answer: the first one counts.
    """
    questions = Question.objects.filter(question_set__watches=watched.watch)
    question = questions.filter(pk=question_id).first()
    first = watched.gold_answers.filter(question=question).values_list("response", flat=True)
    has_left = watched.state == WatchedWorker.State.LEFT  # what they were shown is deleted
    if question is None or not (first or has_left):
        raise Answered("This question was not shown.")
    place = uncounted.place_of_gold(watched.worker.key, question.key)
    try:
        _answer_question(watched, question, response)
    except Refused as refusal:
        if response and response not in first:
            reasons = {place: uncounted.reason_of_gold(refusal)}
            uncounted.note_gold(watched.watch, uncounted.PAGE, reasons)
        raise
    uncounted.note_gold(watched.watch, uncounted.PAGE, {}, [place])


def _answer_question(watched: WatchedWorker, question: Question, response: str) -> None:
    refuse_stopped(watched.watch)
    if watched.state == WatchedWorker.State.LEFT:
        raise Conflict(f"“{watched.worker}” is not watched any more.")
    _refuse_retired(question)
    refuse_response(response)
    if not question.allows(response):
        raise outside_choices(question.choices, response, question.kind)
    answers = GoldAnswer.objects.filter(watched=watched, question=question)
    now = db_clock.request_time()
    columns = {"response": response, "right": question.grade(response), "at": now, "due": None}
    if not answers.waiting(now).update(**columns):
        if answers.filter(response="").exists():
            raise TooLate(TOO_LATE)
        raise Answered(f"“{watched.worker}” has already answered question “{question.key}”.")
    request_watch(watched.watch_id)


def _refuse_retired(question: Question) -> None:
    if question.retired:
        raise Retired(f"Question “{question.key}” is retired: it does not count any more.")


def report_fates(fates: Sequence[GoldFate]) -> dict[str, Any]:
    """Describe the results as the API and the client have them."""
    counts = Counter(fate.result for fate in fates)
    numbers = {name: counts[name] for name in (ADDED, "changed", UNCHANGED, REFUSED)}
    return {**numbers, "rows": [vars(fate) for fate in fates]}


def _insert(places: "GoldPlaces") -> int:
    """Insert the new answers; return the number of those that were not there.

    They are in one order of the keys, so that concurrent inserts never deadlock.
    """
    rows = sorted(places.new.items())
    columns: dict[str, Sequence[Any]] = {
        "watched_id": [watched for (watched, _), _ in rows],
        "question_id": [question for (_, question), _ in rows],
        **{name: [getattr(new, name) for _, new in rows] for name in NewGold._fields},
    }
    same = {"at": places.now, "counted": False}
    return bulk.insert_rows(GoldAnswer, columns, same, ignore_conflicts=True)


class NewGold(NamedTuple):
    """The columns of a new row."""

    asked: datetime
    due: datetime | None
    response: str
    right: bool


@dataclass
class GoldPlaces:
    """The workers and questions that answers are about, looked up once for all of them.

    new     new rows by watched worker and question
    answered  rows that waited for their answer, by the response and its grade
    refusals  reasons of refused answers, by their place
    grades  by question and response: most responses are one of few choices
    """

    watch: Watch
    given: Sequence[GivenGold]
    outside: Outside = "refuse"
    new: dict[tuple[int, int], NewGold] = field(default_factory=dict)
    answered: dict[tuple[str, bool], list[int]] = field(default_factory=lambda: defaultdict(list))
    grades: dict[tuple[int, str], bool] = field(default_factory=dict)
    refusals: dict[str, uncounted.Reason] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = db_clock.request_time()
        workers = {row.worker for row in self.given}
        rows = self.watch.workers.filter(worker__key__in=workers).order_by()
        states = rows.values_list("worker__key", "pk", "state", "last_asked")
        self.workers = {key: (pk, state) for key, pk, state, _ in states}
        self.last_asked = {pk: last for _, pk, _, last in states}
        self.limit = timedelta(minutes=self.watch.minutes)
        keys = {row.question for row in self.given}
        questions = Question.objects.filter(question_set__watches=self.watch, key__in=keys)
        self.questions: dict[str, list[Question]] = {}
        for question in questions.order_by():
            self.questions.setdefault(question.key, []).append(question)

    @cached_property
    def met(self) -> defaultdict[str, set[int]]:
        """Find the questions of the watch that these workers have met, by id."""
        return defaultdict(set, meetings.find_met(self.watch, {row.worker for row in self.given}))

    @cached_property
    def twins(self) -> dict[int, set[int]]:
        return meetings.find_twins(self.watch)

    @cached_property
    def waiting(self) -> dict[tuple[int, int], int]:
        """Lock the rows of these workers and questions that wait for an answer, in time."""
        rows = self._find_answers().waiting(self.now).select_for_update(of=("self",))
        stored = rows.order_by("pk").values_list("watched_id", "question_id", "pk")
        return {(watched, question): pk for watched, question, pk in stored}

    @cached_property
    def stored(self) -> dict[tuple[int, int], str]:
        """Find earlier responses of these workers to these questions."""
        rows = self._find_answers().exclude(at=self.now).order_by()
        stored = rows.values_list("watched_id", "question_id", "response")
        return {(watched, question): response for watched, question, response in stored}

    def _find_answers(self) -> GoldAnswerQuerySet:
        ids = [pk for pk, _ in self.workers.values()]
        questions = [one.pk for rows in self.questions.values() for one in rows]
        return GoldAnswer.objects.filter(watched__in=ids, question__in=questions)

    def place_row(self, number: int, row: GivenGold) -> GoldFate:
        try:
            return GoldFate(number, *self._place(number, row))
        except Refused as refusal:
            return self.refuse(number, row, refusal)

    def refuse(self, number: int, row: GivenGold, refusal: Refused) -> GoldFate:
        """Refuse the row, and remember why, unless it repeats an answer that is stored."""
        watched, _ = self.workers.get(plain_key(row.worker), (0, ""))
        pairs = [(watched, one.pk) for one in self.questions.get(plain_key(row.question), ())]
        if row.response and row.response not in map(self.stored.get, pairs):
            place = uncounted.place_of_gold(row.worker, row.question)
            self.refusals[place] = uncounted.reason_of_gold(refusal)
        return GoldFate(number, REFUSED, str(refusal))

    def note_refusals(self, door: str, fates: Sequence[GoldFate] = ()) -> None:
        """Note the refused answers, and forget earlier refusals of the added ones."""
        added = [self.given[fate.row - 1] for fate in fates if fate.result == ADDED]
        counted = [uncounted.place_of_gold(row.worker, row.question) for row in added]
        uncounted.note_gold(self.watch, door, self.refusals, counted)

    def _place(self, number: int, row: GivenGold) -> tuple[str, ...]:
        """Store the new row; return the result, and the reason of one that is not as sent."""
        watched, question = self.find_place(row.worker, row.question)
        pair = (watched, question.pk)
        known = self.new.get(pair)
        if known and (known.response or row.response is None):
            return (_compare(known.response, row.response),)
        moment = self.now + number * TICK
        asked = moment if row.asked is None else max(EARLIEST, min(row.asked, moment))
        new = NewGold(asked, self.now + self.limit, "", False)
        if row.response is not None:
            refuse_response(row.response)
            if self.outside == "refuse" and not question.allows(row.response):
                raise outside_choices(question.choices, row.response, question.kind)
            right = self._grade(question, row.response)
            new = new._replace(response=row.response, right=right)
            if known or row.asked is None:
                new = new._replace(due=None, asked=known.asked if known else asked)
        self.met[plain_key(row.worker)] |= self.twins.get(question.pk, set())
        is_late = self._is_passed_over(watched, asked)
        if is_late:
            self.refuse(number, row, TooLate(PASSED_OVER))
        self.new[pair] = NewGold(asked, None, "", False) if is_late else new
        return (ADDED, PASSED_OVER) if is_late else (ADDED,)

    def _is_passed_over(self, watched: int, asked: datetime) -> bool:
        """Tell if the time of a question is over, and later ones are counted already."""
        last = self.last_asked[watched]
        return last is not None and asked < last and asked + self.limit < self.now

    def _grade(self, question: Question, response: str) -> bool:
        place = (question.pk, response)
        if place not in self.grades:
            self.grades[place] = question.grade(response)
        return self.grades[place]

    def compare_stored(self, fate: GoldFate, row: GivenGold) -> GoldFate:
        """Tell the result of a row, after some of the answers were found to be there."""
        if fate.result == REFUSED:
            return fate
        question = self._find_question(row.question)
        pair = (self._find_worker(row.worker), question.pk)
        if pair not in self.stored:
            return fate
        if not self.stored[pair] and row.response is not None:
            if pair not in self.waiting:
                return self.refuse(fate.row, row, TooLate(TOO_LATE))
            right = self._grade(question, row.response)
            self.answered[row.response, right].append(self.waiting[pair])
            self.stored[pair] = row.response
            return fate
        try:
            return GoldFate(fate.row, _compare(self.stored[pair], row.response))
        except Refused as refusal:
            return self.refuse(fate.row, row, refusal)

    def find_place(self, worker: str, key: str) -> tuple[int, Question]:
        """Find the watched worker and the question. Raises Met, and NotFound."""
        watched, question = self._find_worker(worker), self._find_question(key)
        pair = (watched, question.pk)
        has_met = pair not in self.new and question.pk in self.met[plain_key(worker)]
        if has_met and pair not in self.stored:
            raise Met(f"“{worker}” has met question “{key}” before: {MET}.")
        return watched, question

    def note_met(self, worker: str, question: int) -> None:
        """Note that the worker meets the question, so that it is refused under other keys."""
        self.met[plain_key(worker)] |= self.twins.get(question, set()) - {question}

    def _find_worker(self, key: str) -> int:
        watched, state = self.workers.get(plain_key(key), (0, WatchedWorker.State.LEFT))
        if not watched:
            raise NotFound(f"“{self.watch}” does not watch a worker “{key}”.")
        if state == WatchedWorker.State.LEFT:
            raise NotFound(f"“{key}” is not watched any more: add them to “{self.watch}” again.")
        return watched

    def _find_question(self, key: str) -> Question:
        questions = self.questions.get(plain_key(key), [])
        if not questions:
            raise NotFound(f"There is no question “{key}” in the question sets of this watch.")
        if len(questions) > 1:
            sets = " and ".join(f"“{question.question_set}”" for question in questions)
            raise NotFound(f"Several question sets have a question “{key}”: {sets}. Rename one.")
        _refuse_retired(questions[0])
        return questions[0]


def _compare(first: str, response: str | None) -> str:
    """Tell that nothing changes, or raise Answered for another response than the first one."""
    if response is not None and first not in (response, DELETED):
        raise Answered(ANSWERED_DIFFERENTLY)
    return UNCHANGED
