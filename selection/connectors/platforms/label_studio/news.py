"""Annotations and lost tasks, from polls and from messages."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from selection.connectors.connector import LostTasks, News, OutsideAnswer
from selection.connectors.faults import Missing
from selection.errors import Refused
from selection.models import Connection, OutsideTask, OutsideWorker, RunConnection

from . import places, reading
from .client import Client
from .task_data import CONTROL, NUMBER

State = OutsideTask.State
ACTIONS = {"ANNOTATION_CREATED", "ANNOTATION_UPDATED"}


def number_of(task: Mapping[str, Any]) -> int | None:
    data = task.get("data")
    text = str(data.get(NUMBER, "")) if isinstance(data, dict) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def ids_by_number(tasks: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    numbers = ((number_of(task), str(task.get("id"))) for task in tasks)
    return {number: pk for number, pk in numbers if number is not None}


def poll_place(link: RunConnection, place: OutsideWorker, client: Client) -> Iterator[News]:
    """Yield the answers in a worker's project, and the tasks that are missing there."""
    tasks = link.tasks.filter(candidate__worker=place.worker_id)
    sent = list(tasks.filter(state=State.SENT).values_list("number", flat=True))
    uncounted = tasks.filter(state=State.ANSWERED, assignment__answer__applied_in=None)
    if not sent and not uncounted.exists():
        return
    try:
        there = [(number_of(task), task) for task in client.list_tasks(place.place)]
    except Missing:
        title = f"The project of “{place.worker}” was deleted in Label Studio: it is made anew."
        places.forget(place)
        yield LostTasks(link, sent, title)
        return
    for number, task in there:
        if number is not None:
            yield from answers_of(link, number, task)
    present = {number for number, _ in there}
    missing = [number for number in sent if number not in present]
    if missing:
        note = f"Tasks of “{place.worker}” were deleted in Label Studio: they are sent again."
        yield LostTasks(link, missing, note)


def answers_of(
    link: RunConnection, number: int, task: Mapping[str, Any]
) -> Iterator[OutsideAnswer]:
    """Yield the answers in a task's annotations, the oldest first."""
    rows = [row for row in reading.valid_annotations(task) if not row.get("ground_truth")]
    for row in sorted(rows, key=_revision):
        yield _answer(link, number, row)


def _answer(link: RunConnection, number: int, annotation: Mapping[str, Any]) -> OutsideAnswer:
    by = annotation.get("completed_by")
    names = [by.get("id"), by.get("email")] if isinstance(by, dict) else [by]
    response = reading.response_of(annotation, link.memory.get(CONTROL, "answer"))
    if response is None and annotation.get("result") and not annotation.get("was_cancelled"):
        response = ""  # it is no skipped task, and no answer that can be read
    return OutsideAnswer(
        link,
        number,
        response,
        [str(name) for name in names if name],
        _revision(annotation),
    )


def _revision(annotation: Mapping[str, Any]) -> str:
    return str(annotation.get("updated_at") or annotation.get("created_at") or "")


def read_message(connection: Connection, payload: Any) -> list[News]:
    """Read the answer in a webhook's message; nothing for other messages. Raises Refused."""
    if not isinstance(payload, dict):
        raise Refused("The message must be Label Studio's own payload.")
    task, annotation = payload.get("task"), payload.get("annotation")
    if payload.get("action") not in ACTIONS or not isinstance(task, dict):
        return []
    number = number_of(task)
    if number is None or not isinstance(annotation, dict) or annotation.get("ground_truth"):
        return []
    tasks = OutsideTask.objects.filter(link__connection=connection, number=number)
    sent_task = tasks.select_related("link__run", "link__connection").first()
    return [_answer(sent_task.link, number, annotation)] if sent_task is not None else []
