"""A step of a watch: closed answers are counted, in the order in which they were asked.

One that was asked after an open question waits for it: counted as they arrive, slow answers would
be missing, and these are more often wrong. The stored evidence is derived: a recount from all
answers gives the same.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from selection import db_clock, wakeups
from selection.db import bulk
from selection.models import DELETED, GoldAnswer, Question, Watch, WatchedWorker
from selection.outbox.celery_messages import mark_received, request_task
from topk.drift import DriftDetector, LastingDetector, observe_each, select_alarms

from . import requalification
from .alarms import report_alarms, report_results

Floats = NDArray[np.float64]
TASK = "selection.tasks.advance_watch"
AT_ONCE = 50_000  # answers of a step
COUNTED = ("memory", "evidence", "answers", "right", "met", "last_asked")  # a step writes these
RARE = (  # columns that a step writes where they change
    *("threshold", "first_asked", "state", "alarmed", "alarmed_after", "why", "since", "tried"),
    "recount",
)
FALLING = 0.1  # share of the evidence for an alarm
State = WatchedWorker.State
Rule = Watch.Rule


def request_watch(watch_id: int) -> None:
    """Request a step of this watch, a moment after the current transaction commits."""
    if not wakeups.is_silenced():
        request_task(TASK, watch_id)


def sweep_watches() -> None:
    """Close questions whose time is over; request steps for these, and those with a lost message.

    A question without an answer is stored as not right.
    """
    GoldAnswer.objects.overdue(db_clock.database_now()).update(due=None)
    waiting = GoldAnswer.objects.filter(watched__watch=OuterRef("pk"), counted=False).in_turn()
    stale = WatchedWorker.objects.filter(Q(recount=True) | Q(threshold=None), watch=OuterRef("pk"))
    behind = Watch.objects.filter(Exists(waiting) | Exists(stale))
    for pk in behind.values_list("pk", flat=True):
        request_watch(pk)


@transaction.atomic
def recount_watch(watch: Watch) -> None:
    """Grade all answers by the present keys, and count them again from each beginning."""
    Watch.objects.lock(watch.pk)
    _grade_again(GoldAnswer.objects.filter(watched__watch=watch))
    watch.workers.update(recount=True)
    request_watch(watch.pk)


@transaction.atomic
def regrade_question(question: Question) -> None:
    """Grade the answers to a corrected, retired or restored question again, in every watch."""
    answers = GoldAnswer.objects.filter(question=question)
    watched = WatchedWorker.objects.filter(gold_answers__question=question)
    watches = Watch.objects.filter(pk__in=watched.values("watch")).order_by("pk")
    locked = list(watches.select_for_update(no_key=True))  # against steps, which read grades
    _grade_again(answers)
    WatchedWorker.objects.filter(pk__in=watched.values("pk")).update(recount=True)
    for watch in locked:
        request_watch(watch.pk)


def _grade_again(answers: QuerySet[GoldAnswer]) -> None:
    changed = []
    given = answers.exclude(response__in=("", DELETED))
    for answer in given.select_related("question").iterator():
        mark = answer.question.grade(answer.response)
        if mark != answer.right:
            answer.right = mark
            changed.append(answer)
    GoldAnswer.objects.bulk_update(changed, ["right"], 1000)


@transaction.atomic
def count_anew(watch: Watch, rows: Collection[int]) -> None:
    """Count the answers of these watched workers from the beginning, in the next step."""
    Watch.objects.lock(watch.pk)
    watch.workers.filter(pk__in=rows).update(recount=True)
    request_watch(watch.pk)


def advance_watch(watch_id: int) -> int:
    """Count the waiting answers; return their number. May come twice, late or never."""
    if not wakeups.is_silenced():
        mark_received(TASK, watch_id)
    with transaction.atomic():
        watch = Watch.objects.lock(watch_id)
        if watch is None:
            return 0
        step = WatchStep(watch)
        step.run()
    if step.has_more:
        request_watch(watch_id)
    return len(step.waiting)


@dataclass
class _Answer:
    pk: int
    watched_id: int
    asked: datetime
    right: bool
    retired: bool


class WatchStep:
    """A step of a locked watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.now = watch, db_clock.database_now()
        self.answers = GoldAnswer.objects.filter(watched__watch=watch, counted=False).in_turn()
        self.waiting = _read_answers(self.answers, AT_ONCE)
        self.has_more = len(self.waiting) == AT_ONCE
        self.seen: dict[int, list[bool]] = {}
        self.rows: list[WatchedWorker] = []
        self.before: list[tuple[Any, ...]] = []  # rare columns of the rows, as they are stored
        touched = Q(pk__in=self.answers.order_by().values("watched"))
        stale = Q(recount=True) | Q(threshold=None)
        if self.is_joint:
            stale |= ~Q(threshold=self.joint_threshold)
        self._read_rows(touched | stale)

    def _read_rows(self, wanted: Q) -> None:
        rows = list(self.watch.workers.filter(wanted))
        self.before += map(_rare_values, rows)
        self.rows += rows

    @property
    def is_joint(self) -> bool:
        """Tell if the workers are judged together, so that answers of one may report another."""
        return bool(self.watch.rule == Rule.SHARE)

    @cached_property
    def joint_threshold(self) -> float:
        return self.watch.workers.count() / self.watch.delta

    def run(self) -> None:
        if not self.rows:
            return
        self._set_thresholds()
        by_worker: dict[int, list[_Answer]] = {}
        for answer in self.waiting:
            by_worker.setdefault(answer.watched_id, []).append(answer)
        anew = [row for row in self.rows if _is_behind(row, by_worker.get(row.pk, ()))]
        answers = by_worker | self._answers_from_beginning(anew, by_worker)
        for row in self.rows:
            row.met += len(by_worker.get(row.pk, ()))
        for row in anew:
            row.met = len(answers[row.pk])
        self._observe(answers)
        alarms = self._judge({row.pk for row in anew})
        results = self._judge_tests()
        self._save()
        report_alarms(self.watch, alarms)
        report_results(self.watch, results)

    def _set_thresholds(self) -> None:
        for row in self.rows:
            if self.is_joint:
                row.threshold = self.joint_threshold
            elif row.threshold is None:
                row.threshold = _threshold(self.watch, row)

    def _answers_from_beginning(
        self, rows: Sequence[WatchedWorker], news: dict[int, list[_Answer]]
    ) -> dict[int, list[_Answer]]:
        """Empty these workers' evidence, and return all answers that it is made of."""
        by_worker = {row.pk: news.get(row.pk, [])[:] for row in rows}
        stored = GoldAnswer.objects.filter(watched__in=list(by_worker), counted=True)
        for answer in _read_answers(stored) if rows else ():
            by_worker[answer.watched_id].append(answer)
        for row in rows:
            by_worker[row.pk].sort(key=attrgetter("asked", "pk"))
            row.empty_evidence()
            row.last_asked = row.since
        return by_worker

    def _observe(self, by_worker: dict[int, list[_Answer]]) -> None:
        """Count the answers; the evidence of an alarm stays as it was at the alarm."""
        places: list[int] = []
        marks: list[bool] = []
        for place, row in enumerate(self.rows):
            answers = by_worker.get(row.pk, [])
            since = row.since
            answers_in_turn = [
                one for one in answers if not one.retired and (since is None or one.asked > since)
            ]
            stop = None if row.alarmed is None else max(0, (row.alarmed_after or 0) - row.answers)
            news = [one.right for one in answers_in_turn[:stop]]
            self.seen[row.pk] = news
            places += [place] * len(news)
            marks += news
            row.answers += len(answers_in_turn)
            row.right += sum(one.right for one in answers_in_turn)
            times = [one.asked for one in answers]
            row.first_asked = min([*times, row.first_asked or self.now])
            row.last_asked = max(times, default=row.last_asked)
        self.start = self._begin_evidence()
        levels = [row.level for row in self.rows]
        bars = [row.threshold or 0.0 for row in self.rows]
        evidence = observe_each(self.start, places, marks, levels, bars)
        for row, memory, total in zip(self.rows, evidence, self._sums(evidence), strict=True):
            row.memory, row.evidence = memory.tobytes(), float(total)
            if row.is_retested:
                row.memory, row.evidence = b"", 0

    def _sums(self, evidence: Floats) -> Floats:
        falls = evidence.shape[1] - self._is_lasting  # the last column counts answers
        return np.asarray(evidence[:, :falls].sum(1))

    def _answers_at_alarm(self, place: int) -> int:
        """Find the number of answers at which the evidence reached the threshold.

        It is searched by halves, because evidence that has reached it stays.
        """
        row = self.rows[place]
        if self.is_joint:  # judged with all others, at the end of the step
            return row.answers
        marks, start = self.seen[row.pk], self.start[place : place + 1]

        def is_reported(count: int) -> bool:
            one = observe_each(start, [0] * count, marks[:count], row.level, row.threshold or 0)
            return bool(self._sums(one)[0] >= (row.threshold or 0))

        first = bisect_left(range(len(marks)), True, key=lambda count: is_reported(count + 1)) + 1
        return row.answers - len(marks) + first

    @property
    def _is_lasting(self) -> bool:
        return self.watch.rule != Rule.RATE

    def _begin_evidence(self) -> Floats:
        level = self.rows[0].level
        kind = LastingDetector(level, 0.5) if self._is_lasting else DriftDetector(level, 10)
        evidence = kind.begin(len(self.rows))
        for place, row in enumerate(self.rows):
            if row.memory:
                evidence[place] = np.frombuffer(row.memory)
        return evidence

    def _judge(self, anew: set[int]) -> list[WatchedWorker]:
        """Set the workers' states; return those with a new alarm."""
        together, alarms = self._select_together() if self.is_joint else set(), []
        for place, row in enumerate(self.rows):
            is_reported = row.evidence >= (row.threshold or 0) or row.pk in together
            if is_reported and row.alarmed is None and row.state != State.LEFT:
                row.alarmed, row.alarmed_after = self.now, self._answers_at_alarm(place)
                alarms.append(row)
            elif row.alarmed is not None and not is_reported and row.pk in anew:
                row.alarmed = row.alarmed_after = None  # by corrected keys
                row.recount = True
                self.has_more = True
                continue
            row.recount = False
            if row.state not in (*row.OUT_OF_WORK, State.LEFT):
                row.state = _state_of(row)
        if self.watch.pause_on_alarm:
            for row in alarms:
                row.state, row.why = State.PAUSED, "paused by the alarm"
        return alarms

    def _select_together(self) -> set[int]:
        """Find the workers to report among all of the watch; read those that are new."""
        evidence = dict(self.watch.workers.order_by("pk").values_list("pk", "evidence"))
        evidence |= {row.pk: row.evidence for row in self.rows}
        workers = np.fromiter(evidence, np.int64)
        chosen = workers[select_alarms(list(evidence.values()), self.watch.delta)]
        selected = set(chosen.tolist())
        others = selected - {row.pk for row in self.rows}
        if others:
            self._read_rows(Q(pk__in=others, alarmed=None))
        return selected

    def _judge_tests(self) -> list[WatchedWorker]:
        """End the tests that are decided; return their workers, who begin anew."""
        tested = [row for row in self.rows if row.state == State.TESTING]
        ended = requalification.judge_tests(self.watch, tested)
        self.has_more = self.has_more or bool(ended)
        return ended

    def _save(self) -> None:
        pairs = zip(self.rows, self.before, strict=True)
        changed = [row for row, before in pairs if _rare_values(row) != before]
        for row in changed:
            row.state = str(row.state)  # a choice is no text for the database's arrays
        for rows, names in ((self.rows, COUNTED), (changed, RARE)):
            columns: dict[str, Sequence[Any]] = {
                name: [getattr(row, name) for row in rows] for name in names
            }
            bulk.update_rows(WatchedWorker, [row.pk for row in rows], columns)
        answers = [answer.pk for answer in self.waiting]
        bulk.update_rows(GoldAnswer, answers, {"counted": [True] * len(answers)})


def _read_answers(rows: Any, most: int | None = None) -> list[_Answer]:
    columns = ("pk", "watched_id", "asked", "right", "question__retired")
    values = rows.order_by("asked", "pk").values_list(*columns)[:most]
    return [
        _Answer(pk, watched, at, mark, retirement is not None)
        for pk, watched, at, mark, retirement in values
    ]


def _is_behind(row: WatchedWorker, new: Sequence[_Answer]) -> bool:
    """Tell if an answer comes late: it was asked before one that is counted."""
    late = row.last_asked is not None and any(one.asked < row.last_asked for one in new)
    return row.recount or late


_rare_values = attrgetter(*RARE)


def _threshold(watch: Watch, row: WatchedWorker) -> float:
    if watch.rule == Rule.RATE:
        return DriftDetector(row.level, watch.once_in).threshold
    return row.peers / watch.delta


def _state_of(row: WatchedWorker) -> State:
    if row.alarmed is not None:
        return State.ALARM
    assert row.threshold is not None  # set at the beginning of a step
    return State.FALLING if row.evidence >= FALLING * row.threshold else State.FINE
