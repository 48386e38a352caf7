"""Requalification: a test of a worker who fell, by further gold questions of their watch.

A test has its own answers, counted from its beginning in the order in which they were asked, up to
the first question that is open. It is judged once, at its first result; the proof is in
``topk.drift.MarkTest``.
"""

from collections.abc import Collection
from datetime import datetime

from selection.models import GoldAnswer, Watch, WatchedWorker
from selection.texts import counted
from topk.drift import MarkTest

MOST = 200  # answers of a test; a worker who is neither good nor bad fails then
State = WatchedWorker.State
Asked = tuple[datetime, bool]  # time of asking, and the grade


def judge_tests(watch: Watch, rows: Collection[WatchedWorker]) -> list[WatchedWorker]:
    """Set the states of workers whose test is decided; return these workers.

    They begin anew: answers asked after the deciding one are counted by the next step.
    """
    results: dict[int, list[Asked]] = {row.pk: [] for row in rows}
    since = {row.pk: row.since for row in rows}
    answers = GoldAnswer.objects.filter(watched__in=rows, question__retired=None).in_turn()
    columns = ("watched", "asked", "right")
    for pk, time, mark in answers.order_by("asked", "pk").values_list(*columns) if rows else ():
        beginning = since[pk]
        if beginning is None or time > beginning:
            results[pk].append((time, mark))
    return [row for row in rows if _judge_test(watch, row, results[row.pk][:MOST])]


def _judge_test(watch: Watch, row: WatchedWorker, taken: list[Asked]) -> bool:
    right = [one for _, one in taken]
    decided = build_test(watch, row).decide(right) or ((False, MOST) if right[MOST - 1 :] else None)
    if decided is None:
        return False
    passed, count = decided
    verb = "passed" if passed else "did not pass"
    row.why = f"{verb} the test: {sum(right[:count])} of {counted(count, 'gold answer')} right"
    row.state = State.FINE if passed else State.PAUSED
    row.tried = 0 if passed else row.tried
    row.since, row.threshold, row.recount = taken[count - 1][0], None, True
    row.empty_evidence()
    return True


def fewest_answers(watch: Watch, row: WatchedWorker) -> int:
    """Count the answers of a test that are all right; 0 if the worker cannot be tested."""
    if row.state not in (State.ALARM, State.PAUSED) or row.tried >= watch.tries:
        return 0
    return (build_test(watch, row).decide([True] * MOST) or (False, MOST))[1]


def build_test(watch: Watch, row: WatchedWorker) -> MarkTest:
    tolerance = min(watch.tolerance, row.level / 2)
    return MarkTest(row.level, tolerance, watch.delta, max(watch.tries, row.tried))
