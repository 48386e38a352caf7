"""Answers to gold tasks of watches: each counts for its watched worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from selection.models import GoldAnswer, GoldTask, OutsideTask, WatchConnection, WatchedWorker
from selection.watches.gold import REFUSED, GivenGold, record_gold

from . import health

State = OutsideTask.State


@dataclass(frozen=True)
class OutsideGold:
    """An answer to a gold task. Repeating it changes nothing.

    by        id of the person there; name: as people know them
    response  None if it was not understood, or skipped
    """

    task: GoldTask
    by: str
    name: str
    response: str | None
    asked: datetime
    is_skipped: bool = False


def take_gold(link: WatchConnection, answers: Sequence[OutsideGold]) -> int:
    """Record the answers in the order of asking; return the number of new ones.

    Those that cannot be counted become the problem of the watch's connection.
    """
    workers = {
        member.outside_id: member.watched
        for member in link.members.exclude(watched=None).select_related("watched__worker")
    }
    questions = {one.task.question_id for one in answers}
    rows = GoldAnswer.objects.filter(watched__watch=link.watch_id, question__in=questions)
    stored = set(rows.exclude(response="").values_list("watched", "question"))
    new: list[tuple[WatchedWorker, OutsideGold]] = []
    for one in sorted(answers, key=lambda one: one.asked):
        worker = workers.get(one.by)
        if worker is None and one.is_skipped:
            continue
        if worker is None:
            problem = f"“{one.name}” answered a gold task, but is not watched: it was not counted."
            health.note_problem(link, problem)
        elif (worker.pk, one.task.question_id) not in stored:
            new.append((worker, one))
    return _record(link, new)


def _record(link: WatchConnection, new: Sequence[tuple[WatchedWorker, OutsideGold]]) -> int:
    understood = [pair for pair in new if pair[1].response is not None or pair[1].is_skipped]
    for worker, one in new:
        if one.response is None and not one.is_skipped:
            why = "the annotation has no answer in the control of the labelling interface."
            _note(link, worker, one, why)
    rows = [
        GivenGold(worker.worker.key, one.task.question.key, one.response, one.asked)
        for worker, one in understood
    ]
    fates = record_gold(link.watch, rows)
    for (worker, one), fate in zip(understood, fates, strict=True):
        if fate.result == REFUSED:
            _note(link, worker, one, fate.why)
    return sum(fate.result != REFUSED for fate in fates)


def _note(link: WatchConnection, worker: WatchedWorker, one: OutsideGold, why: str) -> None:
    question = one.task.question
    health.note_problem(link, f"“{worker.worker}”, gold question “{question.key}”: {why}")
