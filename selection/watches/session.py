"""Sessions on the worker's page: which gold question a watched worker meets next, and when.

The order of the questions is drawn for each worker, so that nobody can choose among them.
"""

from datetime import timedelta
from typing import Literal

import numpy as np

from selection import db_clock
from selection.facts import Facts
from selection.models import GoldAnswer, Practice, Question, Watch, WatchedWorker
from topk.question_order import shuffle_ranks

from . import practice

PER_DAY = 10  # gold questions, if the watch has no pace by the week
State = Literal["question", "practice", "later", "paused", "done", "over"]


def find_next(row: WatchedWorker) -> Facts:
    """Find the state of a worker's session, with the question if there is one now.

    A worker who is tested again gets all questions at once, others at the pace of the watch.
    """
    if row.watch.stopped or row.state == WatchedWorker.State.LEFT:
        return _describe("over")
    if row.state == WatchedWorker.State.PAUSED:
        return _describe("paused")
    if row.state == WatchedWorker.State.PRACTICE:
        if lesson := practice.find_pending(row):
            return _describe("practice", lesson)
        row = practice.begin_test(row)
    unmet = Question.objects.filter(question_set__watches=row.watch, retired=None)
    elsewhere = row.gold_tasks.exclude(state="removed").values("question")
    unmet = unmet.exclude(gold_answers__watched=row).exclude(pk__in=elsewhere)
    pks = list(unmet.values_list("pk", flat=True))
    if not pks:
        return _describe("done")
    if row.state != WatchedWorker.State.TESTING and _is_ahead(row):
        return _describe("later")
    ranks = shuffle_ranks(row.watch_id, np.full(len(pks), row.pk), pks)
    chosen = Question.objects.select_related("question_set").get(pk=pks[int(ranks.argmin())])
    return _describe("question", chosen)


def _describe(state: State, question: Question | Practice | None = None) -> Facts:
    return Facts(state=state, question=question)


def _is_ahead(row: WatchedWorker) -> bool:
    """Tell if a worker has met as many questions lately as the watch wants."""
    weekly = row.watch.pace == Watch.Pace.WEEK
    most, days = (row.watch.every, 7) if weekly else (PER_DAY, 1)
    since = db_clock.database_now() - timedelta(days=days)
    return GoldAnswer.objects.filter(watched=row, asked__gt=since).count() >= most
