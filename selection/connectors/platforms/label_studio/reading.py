"""Content of a Label Studio project: gold questions, people, and answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selection.connectors.connector import Fetched
from selection.errors import Refused
from selection.imports.row_parsers import QuestionRow, WorkerRow

from .client import Object
from .interface import Control

Task = Mapping[str, Any]
SEPARATOR = " | "  # of several choices in one answer
# Attribute of workers whose id differs from Label Studio's id or address.
ATTRIBUTE = "label_studio"


def gold_rows(tasks: Sequence[Task], control: Control) -> list[QuestionRow]:
    """Make a question for each task with ground truth, which is an accepted answer.

    Raises Refused if there is none.
    """
    rows = []
    for line, task in enumerate(tasks, 1):
        answers = list(dict.fromkeys(_gold_answers(task, control)))
        accepted = answers
        if control.multiple and answers:  # all that are ticked make the answer
            accepted = answers[0].split(SEPARATOR)
        if accepted:
            prompt = _prompt_of(task, control)
            rows.append(
                QuestionRow(
                    line, str(task["id"]), prompt, accepted, control.choices, control.grading
                )
            )
    if not rows:
        raise Refused(
            "The project has no ground truth: open the tasks whose answer you know, annotate them, "
            "and mark the annotation with the star (Ground Truth)."
        )
    return rows


def _gold_answers(task: Task, control: Control) -> Iterator[str]:
    for annotation in valid_annotations(task):
        if annotation.get("ground_truth"):
            response = response_of(annotation, control.name)
            if response is not None:
                yield response


def valid_annotations(task: Task) -> list[Object]:
    """List also the skipped annotations of a task."""
    rows = task.get("annotations")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def response_of(annotation: Mapping[str, Any], control: str) -> str | None:
    """Read the answer in an annotation; None if it was skipped or left empty.

    control  name of the control that holds it
    """
    results = annotation.get("result")
    if annotation.get("was_cancelled") or not isinstance(results, list):
        return None
    mine = [one for one in results if isinstance(one, dict) and one.get("from_name") == control]
    for value in (one.get("value") for one in mine):
        for kind in ("choices", "text", "number", "rating"):
            answer = value.get(kind) if isinstance(value, dict) else None
            if answer not in (None, "", []):
                return SEPARATOR.join(map(str, answer)) if isinstance(answer, list) else str(answer)
    return None


def _prompt_of(task: Task, control: Control) -> str:
    data = task.get("data")
    values = data if isinstance(data, dict) else {}
    parts = [values[name] for name in control.shown if name in values]
    texts = [one if isinstance(one, str) else json.dumps(one) for one in parts]
    return "\n\n".join(texts) or f"Task {task['id']}"


def worker_rows(users: Sequence[Object]) -> list[WorkerRow]:
    """Make a worker for each person, by address; their number there is an attribute."""
    rows = []
    for line, user in enumerate(users, 1):
        email = str(user.get("email") or "").strip()
        if email:
            name = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
            rows.append(WorkerRow(line, email, name, {ATTRIBUTE: str(user["id"])}))
    return rows


def past_file(
    tasks: Sequence[Task], users: Sequence[Object], project: Mapping[str, Any]
) -> Fetched:
    """Pack annotated tasks as a file of Label Studio, with the people's addresses."""
    addresses = {user["id"]: user.get("email") for user in users}
    config = {"label_config": str(project.get("label_config", ""))}
    records, people = [], set()
    for task in tasks:
        rows = [
            {**row, "completed_by": {"id": key, "email": addresses.get(key)}}
            if (key := _user_id(row.get("completed_by"))) in addresses
            else row
            for row in valid_annotations(task)
        ]
        people |= {str(row.get("completed_by")) for row in rows if not row.get("ground_truth")}
        records.append({**task, "annotations": rows, "project_config": config})
    name = f"{project.get('title') or project.get('id')}.json"
    return Fetched(name, json.dumps(records).encode(), len(people))


def _user_id(by: Any) -> int | None:
    number = by.get("id") if isinstance(by, dict) else by
    return number if isinstance(number, int) else None


def accounts_by_name(users: Sequence[Object]) -> dict[str, str]:
    """Index people by their names, which are the id itself and the address."""
    names = {str(user.get("email") or "").casefold(): str(user["id"]) for user in users}
    return names | {str(user["id"]): str(user["id"]) for user in users}


def account_of(names: Sequence[str], accounts: Mapping[str, str]) -> str:
    """Find the id of the person with one of these names; "" for nobody."""
    folded = (name.strip().casefold() for name in names)
    return next((accounts[name] for name in folded if name and name in accounts), "")
