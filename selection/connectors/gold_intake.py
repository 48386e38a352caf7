"""Answers to gold tasks of watches: each counts for its watched worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from selection.answers.uncounted import Reason, note_gold, place_of_gold
from selection.models import GoldTask, WatchConnection
from selection.watches.gold import REFUSED, GivenGold, record_gold

from . import health


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


def take_gold(link: WatchConnection, answers: Sequence[OutsideGold]) -> None:
    """Record the answers in the order of asking.

    Those that cannot be counted become the problem of the watch's connection.
    """
    columns = ("outside_id", "watched__worker__key")
    workers = dict(link.members.exclude(watched=None).values_list(*columns))
    rows: list[GivenGold] = []
    reasons: dict[str, Reason] = {}
    for one in sorted(answers, key=lambda one: one.asked):
        worker, question = workers.get(one.by, ""), one.task.question.key
        if one.is_skipped and not worker:
            continue
        if worker and (one.is_skipped or one.response is not None):
            rows.append(GivenGold(worker, question, one.response, one.asked))
        elif worker:
            reasons[place_of_gold(worker, question)] = Reason.UNREADABLE
            _note(link, worker, question, "the annotation has no answer in the control.")
        else:
            reasons[place_of_gold(one.name, question)] = Reason.PERSON
            _note(link, one.name, question, "this person is not watched: it was not counted.")
    door = link.connection.kind
    note_gold(link.watch, door, reasons)
    for row, fate in zip(rows, record_gold(link.watch, rows, door=door), strict=True):
        if fate.result == REFUSED:
            _note(link, row.worker, row.question, fate.why)


def _note(link: WatchConnection, worker: str, question: str, why: str) -> None:
    health.note_problem(link, f"“{worker}”, gold question “{question}”: {why}")
