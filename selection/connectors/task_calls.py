"""The calls that send and remove tasks."""

from collections.abc import Mapping
from typing import Any

from selection import db_clock
from selection.answers import presence
from selection.models import OutsideTask, RunConnection

from .connector import Connector, WorkerTasks

State = OutsideTask.State


def send_tasks(
    connector: Connector, link: RunConnection, data: Mapping[str, Any], again: bool
) -> str:
    """Send the call's tasks that are still wanted; return a sentence."""
    rows = _tasks_of(link, data).filter(state=State.WAITING, assignment__isnull=False)
    tasks = list(rows.select_related("assignment__question", "candidate__worker"))
    if not tasks:
        return "Nothing was wanted any more."
    worker = tasks[0].candidate.worker
    assignments = [task.assignment for task in tasks if task.assignment is not None]
    presence.record_handed(one.pk for one in assignments)
    ids = connector.send_assignments(link, WorkerTasks(worker, assignments, again))
    now = db_clock.database_now()
    for task in tasks:
        # A task may have become unwanted meanwhile: its removal needs the id as well.
        OutsideTask.objects.filter(pk=task.pk).update(outside_id=ids[task.number], sent=now)
    rows.filter(pk__in=[task.pk for task in tasks]).update(state=State.SENT)
    return f"{len(tasks):,} sent."


def remove_tasks(connector: Connector, link: RunConnection, data: Mapping[str, Any]) -> str:
    """Remove the call's tasks; return a sentence."""
    leaving = _tasks_of(link, data).filter(state=State.LEAVING)
    tasks = list(leaving.select_related("candidate__worker"))
    answered = connector.remove_assignments(link, tasks) if tasks else ()
    # The next poll takes their answers.
    leaving.filter(number__in=answered).update(state=State.SENT)
    ids = [task.pk for task in tasks if task.number not in answered]
    leaving.filter(pk__in=ids).update(state=State.REMOVED, ended=db_clock.database_now())
    stay = f", {len(answered):,} answered meanwhile" if answered else ""
    return f"{len(ids):,} removed{stay}."


def refuse_tasks(link: RunConnection, data: Mapping[str, Any]) -> None:
    _tasks_of(link, data).filter(state=State.WAITING).update(state=State.REFUSED)


def restore_tasks(link: RunConnection, data: Mapping[str, Any]) -> None:
    """Undo ``refuse_tasks``, before the call is made again."""
    _tasks_of(link, data).filter(state=State.REFUSED).update(state=State.WAITING)


def _tasks_of(link: RunConnection, data: Mapping[str, Any]) -> Any:
    return OutsideTask.objects.filter(link=link, number__in=data["assignments"])
