"""Sessions on the worker's page: which gold question a watched worker meets next, and when.

The order of the questions is drawn for each worker, so that nobody can choose among them.
"""

from datetime import datetime, timedelta
from typing import Literal

import numpy as np

from selection import db_clock
from selection.facts import Facts
from selection.models import GoldAnswer, Practice, Question, Watch, WatchedWorker
from topk.question_order import shuffle_ranks

from . import meetings, practice

PER_DAY = 10  # gold questions, if the watch has no pace by the week
State = Literal["question", "next", "practice", "later", "paused", "done", "over"]


def find_next(row: WatchedWorker) -> Facts:
    """Find the state of a worker's session, with the question if there is one now.

    state  question: the worker has seen it, and it stays until it is answered or its time is over,
           also in a pause; next: they have not seen it yet

    A worker who is tested again gets all questions at once, others at the pace of the watch.
    """
    if row.watch.stopped or row.state == WatchedWorker.State.LEFT:
        return _describe("over")
    elsewhere = row.gold_tasks.exclude(state="removed").values("question")
    open_rows = row.gold_answers.waiting(db_clock.database_now()).filter(question__retired=None)
    shown = open_rows.exclude(question__in=elsewhere).select_related("question__question_set")
    if open_row := shown.first():
        return _describe("question", open_row.question, open_row.due)
    if row.state == WatchedWorker.State.PAUSED:
        return _describe("paused")
    if row.state == WatchedWorker.State.PRACTICE:
        if lesson := practice.find_pending(row):
            return _describe("practice", lesson)
        row = practice.begin_test(row)
    lying = set(elsewhere.values_list("question", flat=True))
    pks = meetings.unmet_questions(row.watch, [row], lying)
    if not pks:
        return _describe("done")
    if row.state != WatchedWorker.State.TESTING and _is_ahead(row):
        return _describe("later")
    ranks = shuffle_ranks(row.watch_id, np.full(len(pks), row.pk), pks)
    chosen = Question.objects.select_related("question_set").get(pk=pks[int(ranks.argmin())])
    return _describe("next", chosen)


def _describe(
    state: State, question: Question | Practice | None = None, due: datetime | None = None
) -> Facts:
    return Facts(state=state, question=question, due=due)


def _is_ahead(row: WatchedWorker) -> bool:
    """Tell if a worker has met as many questions lately as the watch wants."""
    weekly = row.watch.pace == Watch.Pace.WEEK
    most, days = (row.watch.every, 7) if weekly else (PER_DAY, 1)
    since = db_clock.database_now() - timedelta(days=days)
    return GoldAnswer.objects.filter(watched=row, asked__gt=since).count() >= most
