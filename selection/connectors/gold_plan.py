"""The gold tasks that a watch wants in a tool: number, workers, and questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from selection import db_clock
from selection.models import (
    GoldAnswer,
    GoldTask,
    OutsideTask,
    Watch,
    WatchConnection,
    WatchedMember,
    WatchedWorker,
)
from selection.watches import meetings
from topk.question_order import shuffle_ranks

AT_ONCE = 100  # new tasks of an exchange
IN_TEST = 5  # open tasks of a worker in a test
WEEK = timedelta(weeks=1)
State = OutsideTask.State
PRESENT = (State.WAITING, State.SENT, State.LEAVING)
OPEN = (*PRESENT, State.REFUSED)  # a refused one is not replaced: the next would be refused as well
OUT = (WatchedWorker.State.PAUSED, WatchedWorker.State.LEFT)


@dataclass(frozen=True)
class Place:
    """The production tasks in a place.

    tasks    their number: all that were open when the watch was joined, and later ones
    overlap  number of people per task
    assigns  True if each task has a person of its own
    in_turn  True if tasks are shown in the order in which they were made
    """

    tasks: int
    overlap: int
    assigns: bool
    in_turn: bool


@dataclass(frozen=True)
class _Queue:
    """Gold tasks for one worker, or for all workers of a common place."""

    place: str
    members: Sequence[WatchedMember]
    common: bool
    share: float  # of the place's tasks, which pass here

    @property
    def watched(self) -> WatchedWorker | None:
        return None if self.common else self.members[0].watched

    @property
    def is_in_test(self) -> bool:
        return self.watched is not None and self.watched.state == WatchedWorker.State.TESTING


@dataclass(frozen=True)
class _Count:
    """The tasks of a queue: all made since the watch was joined, and the open ones."""

    dealt: int = 0
    open: int = 0
    last: datetime | None = None


@transaction.atomic
def plan_gold(link: WatchConnection, places: Mapping[str, Place]) -> list[str]:
    """Store the gold tasks that are to be made; return names of workers without further gold."""
    locked = WatchConnection.objects.select_for_update().get(pk=link.pk)
    if not locked.on or locked.watch.stopped:
        return []
    counts, now, room, without = _count_tasks(link), db_clock.database_now(), AT_ONCE, []
    for queue in _list_queues(link, places):
        count = counts.get((queue.place, queue.watched.pk if queue.watched else None), _Count())
        number = min(room, _wanted(link.watch, queue, places[queue.place], count, now))
        questions = _draw(link, queue, number) if number > 0 else []
        if len(questions) < number:
            without.append("all workers" if queue.watched is None else f"“{queue.watched.worker}”")
        GoldTask.objects.bulk_create(
            GoldTask(link=link, watched=queue.watched, question_id=pk, place=queue.place, made=now)
            for pk in questions
        )
        room -= len(questions)
    return without


def active_members(link: WatchConnection) -> QuerySet[WatchedMember]:
    """Select the members that get gold tasks: neither paused nor gone."""
    rows = link.members.exclude(watched=None).exclude(watched__state__in=OUT)
    return rows.select_related("watched__worker").order_by("watched")


def stale_members(link: WatchConnection) -> QuerySet[WatchedMember]:
    """Select the members to pause there, and those with a pause to end."""
    paused = Q(watched__state=WatchedWorker.State.PAUSED)
    rows = link.members.filter(paused & Q(pause="") | ~paused & ~Q(pause=""))
    return rows.select_related("watched")


def _list_queues(link: WatchConnection, places: Mapping[str, Place]) -> list[_Queue]:
    groups: dict[str, list[WatchedMember]] = {}
    queues = []
    for member in active_members(link):
        if member.place not in places:
            continue
        if member.alone:
            queues.append(_Queue(member.place, [member], common=False, share=1))
        else:
            groups.setdefault(member.place, []).append(member)
    for place, members in groups.items():
        if not places[place].assigns:
            queues.append(_Queue(place, members, common=True, share=1))
            continue
        share = min(1, places[place].overlap / len(members))
        queues += [_Queue(place, [one], common=False, share=share) for one in members]
    return queues


def _count_tasks(link: WatchConnection) -> dict[tuple[str, int | None], _Count]:
    rows = link.gold_tasks.exclude(state=State.REMOVED).order_by().values_list("place", "watched")
    counts = rows.annotate(
        dealt=Count("pk", filter=Q(made__gte=link.joined)),
        open=Count("pk", filter=Q(state__in=OPEN)),
        last=Max("made"),
    )
    return {(place, watched): _Count(*rest) for place, watched, *rest in counts}


def _wanted(watch: Watch, queue: _Queue, place: Place, count: _Count, now: datetime) -> int:
    """Compute the number of new tasks, for one gold task in n, or n a week for each worker."""
    if watch.pace == Watch.Pace.TASKS:
        number = int(place.tasks * queue.share) // max(1, watch.every - 1) - count.dealt
        if place.in_turn:  # else they would come one after another, behind all other tasks
            number = min(number, len(queue.members) - count.open)
    else:
        weekly = watch.every * len(queue.members)
        is_due = count.last is None or now - count.last >= WEEK / weekly
        number = int(is_due and count.open < weekly)
    return max(number, IN_TEST - count.open if queue.is_in_test else 0)


def _draw(link: WatchConnection, queue: _Queue, number: int) -> list[int]:
    """Draw questions that no member of the queue has met, in an order as of sessions."""
    watched = [member.watched for member in queue.members if member.watched]
    tasks = link.gold_tasks.exclude(state=State.REMOVED)
    tasks = tasks.filter(Q(watched__in=watched) | Q(place=queue.place, watched=None))
    lying = set(tasks.values_list("question", flat=True))
    pks = meetings.unmet_questions(link.watch, watched, lying)
    arm = link.watch_id if queue.watched is None else queue.watched.pk
    ranks = shuffle_ranks(link.watch_id, np.full(len(pks), arm), pks)
    return [pks[place] for place in np.argsort(ranks)[:number].tolist()]


def mark_unwanted(link: WatchConnection, places: Mapping[str, Place]) -> None:
    """Mark the tasks that are to be removed, unless they are answered meanwhile."""
    rows = link.gold_tasks.filter(state__in=(State.WAITING, State.SENT))
    if link.on and not link.watch.stopped:
        queues = _list_queues(link, places)
        common = [queue.place for queue in queues if queue.common]
        out = Q(watched__state__in=OUT) | Q(watched=None) & ~Q(place__in=common)
        same = {"watched": OuterRef("watched"), "question": OuterRef("question")}
        closed = GoldAnswer.objects.filter(**same).exclude(response="", due__isnull=False)
        answered = Exists(closed)  # elsewhere, for example by the API, or their time is over
        rows = rows.filter(out | ~Q(question__retired=None) | Q(answered))
    rows.update(state=State.LEAVING)
