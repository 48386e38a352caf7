"""The tasks that should lie on the other side: the run's open assignments, and no others."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import QuerySet

from selection import db_clock
from selection.models import Assignment, ConnectorCall, OutsideTask, Run, RunConnection
from topk import Verdict

from . import calls, health, registry

AT_ONCE = 100  # tasks of a call
CHUNK = 2000
GOING = (Run.Status.RUNNING, Run.Status.PAUSED)
State = OutsideTask.State


@transaction.atomic
def plan_tasks(link: RunConnection) -> int:
    """Queue what makes the other side agree with the run's open assignments; return the calls.

    It may be called at any time, any number of times: it compares the tables.
    """
    # No step withdraws an assignment meanwhile, and no other process plans the same tasks.
    Run.objects.locked(link.run_id)
    rows = RunConnection.objects.select_related("run", "connection")
    fresh = rows.filter(pk=link.pk).first()
    if fresh is None or not registry.connector_of(fresh.connection).deals:
        return 0
    removals = _queue_removals(fresh)
    return removals + _queue_sending(fresh)


def find_wanted_assignments(link: RunConnection) -> QuerySet[Assignment]:
    """Select the open assignments of workers without a verdict; none of models."""
    rows = Assignment.objects.open().filter(candidate__run=link.run_id)
    if not link.on or link.run.status not in GOING:
        return rows.none()
    return rows.filter(
        candidate__verdict=Verdict.UNDECIDED.value,
        candidate__gone="",
        candidate__worker__endpoint=None,
    )


def _queue_sending(link: RunConnection) -> int:
    _release_assignments(link)
    new = find_wanted_assignments(link).filter(outside_task=None).order_by("candidate", "position")
    by_candidate = _group_numbers(new.values_list("id", "candidate_id"))
    now = db_clock.database_now()
    rows = [
        OutsideTask(
            link=link, candidate_id=candidate, assignment_id=number, number=number, made=now
        )
        for candidate, numbers in by_candidate.items()
        for number in numbers
    ]
    OutsideTask.objects.bulk_create(rows, CHUNK)
    return _queue_calls(link, calls.SEND, by_candidate) + _queue_removed(link)


def _release_assignments(link: RunConnection) -> None:
    """Let this connection take over the assignments whose tasks lay at an earlier one.

    The earlier one keeps its tasks' numbers, by which it removes them.
    """
    rows = OutsideTask.objects.filter(link__run=link.run_id, link__on=False)
    assignments = find_wanted_assignments(link).values("pk")
    rows = rows.exclude(link=link).exclude(state=State.ANSWERED).filter(assignment__in=assignments)
    rows.update(assignment=None)


def _queue_removed(link: RunConnection) -> int:
    """Queue tasks that were removed and are wanted again, for example of a worker who returned."""
    removed = link.tasks.filter(state=State.REMOVED, assignment__in=find_wanted_assignments(link))
    by_candidate = _group_numbers(removed.values_list("number", "candidate_id"))
    removed.update(state=State.WAITING, outside_id="", sent=None, ended=None)
    return _queue_calls(link, calls.SEND, by_candidate)


def _queue_removals(link: RunConnection) -> int:
    """Queue the removal of tasks that are not wanted; answered ones stay as a record."""
    present = link.tasks.present()
    open_now = find_wanted_assignments(link).filter(outside_task__in=present)
    unwanted = present.exclude(assignment__in=open_now.values("pk"))
    by_candidate = _group_numbers(unwanted.values_list("number", "candidate_id"))
    numbers = [number for group in by_candidate.values() for number in group]
    for start in range(0, len(numbers), CHUNK):
        rows = link.tasks.filter(number__in=numbers[start : start + CHUNK])
        rows.present().update(state=State.LEAVING)
    return _queue_calls(link, calls.REMOVE, by_candidate)


def _queue_calls(
    link: RunConnection, kind: str, groups: dict[int, list[int]], tries: int = 0
) -> int:
    now = db_clock.database_now()
    rows = [
        ConnectorCall(
            connection=link.connection,
            link=link,
            kind=kind,
            body=json.dumps({"candidate": candidate, "assignments": part}),
            made=now,
            due=now,
            tries=tries,
        )
        for candidate, numbers in groups.items()
        for part in _parts(numbers)
    ]
    ConnectorCall.objects.bulk_create(rows, CHUNK)
    if rows:
        health.request_exchange(link.connection_id)
    return len(rows)


def _group_numbers(rows: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups = defaultdict(list)
    for number, candidate in rows:
        groups[candidate].append(number)
    return groups


def _parts(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[start : start + AT_ONCE] for start in range(0, len(numbers), AT_ONCE)]


@transaction.atomic
def return_tasks(link: RunConnection, numbers: Sequence[int]) -> int:
    """Send these tasks again, which are gone on the other side; return their number.

    The call counts as tried, so it looks first: a list that changes while it is read misses tasks.
    """
    tasks = link.tasks.filter(number__in=numbers, state=State.SENT)
    by_candidate = _group_numbers(tasks.values_list("number", "candidate_id"))
    tasks.update(state=State.WAITING, outside_id="", sent=None)
    _queue_calls(link, calls.SEND, by_candidate, tries=1)
    return sum(map(len, by_candidate.values()))
