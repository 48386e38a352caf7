"""Practice before a test: a worker who fell learns by the practice questions of the watch."""

from django.db import transaction
from django.db.models import QuerySet

from selection.answers.practice import record_try
from selection.errors import Answered, NotFound
from selection.facts import Facts
from selection.models import Practice, PracticeAnswer, Watch, WatchedWorker

from . import alarms

State = WatchedWorker.State


def find_practice(watch: Watch) -> QuerySet[Practice]:
    rows = Practice.objects.filter(question_set__watches=watch).select_related("question_set")
    return rows.order_by("question_set", "number", "pk")


def find_pending(row: WatchedWorker) -> Practice | None:
    done = row.practised.filter(done=True).values("practice")
    return find_practice(row.watch).exclude(pk__in=done).first()


@transaction.atomic
def answer_practice(watched: WatchedWorker, practice_id: int, response: str) -> Facts:
    """Record an answer to a practice question; the last one begins the test.

    A worker without a try left at a required question has failed the test. Raises NotFound for a
    question of another watch, Answered out of turn, and others as ``record_try``.
    """
    row = alarms.lock_row(watched)
    practice = find_practice(row.watch).filter(pk=practice_id).first()
    if practice is None:
        raise NotFound("There is no such practice question.")
    if row.watch.stopped or row.state != State.PRACTICE:
        raise Answered("This worker does not practise now.")
    new = PracticeAnswer(watched=row, practice=practice, right=False, done=False)
    lesson = record_try(row.practised.filter(practice=practice).first() or new, response)
    if lesson.left == 0:
        alarms.fail_practice(row)
    elif lesson.done:
        begin_test(row)
    return lesson


@transaction.atomic
def begin_test(watched: WatchedWorker) -> WatchedWorker:
    """Begin the test if no practice question is left, for example after a deletion."""
    row = alarms.lock_row(watched)
    if row.state == State.PRACTICE and find_pending(row) is None:
        alarms.end_practice(row)
    return row
