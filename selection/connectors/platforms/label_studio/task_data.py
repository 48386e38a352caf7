"""The data of tasks: what the worker sees, and the number of the assignment. Never an answer."""

from typing import Any

from django.conf import settings

from selection.errors import Refused
from selection.models import Assignment, Question, RunConnection
from selection.questions.sanitize import QuestionTexts
from selection.texts import counted

from . import interface
from .client import Client

NUMBER = "crowdselect"  # field of a task's data with the number of its assignment
INTERFACE, CONTROL, DATA = "interface", "control", "data"
MOST_NAMED = 3


def prepare_memory(link: RunConnection, client: Client) -> dict[str, Any]:
    """Prepare the connector's notes about the run: interface, control, tasks' data.

    Raises Refused for questions that Label Studio cannot show.
    """
    project = str(link.settings.get("project", "")).strip()
    if project:
        return _of_project(link, client, project)
    kinds = {question.kind for question in _questions(link)}
    if kinds <= interface.TYPED and kinds != {"number"}:
        kinds = {"text"}
    if len(kinds) > 1:
        raise Refused(
            f"The run has questions of several kinds ({', '.join(sorted(kinds))}); Label Studio "
            "shows one kind in a project. Enter the project of the gold questions, or use one kind."
        )
    config = interface.build_interface(next(iter(kinds), "text"))
    return {INTERFACE: config, CONTROL: interface.OWN_NAME, DATA: {}}


def _of_project(link: RunConnection, client: Client, project: str) -> dict[str, Any]:
    if not project.isdigit():
        raise Refused("Enter the project's number: it is in its address, /projects/NUMBER.")
    content = client.project(project)
    config, control = str(content.get("label_config", "")), interface.read_control(content)
    fields = interface.variables_of(config)
    tasks = {str(task["id"]): task.get("data") or {} for task in client.list_tasks(project)}
    keys = [question.key for question in _questions(link)]
    if missing := [key for key in keys if key not in tasks]:
        names = ", ".join(f"“{key}”" for key in missing[:MOST_NAMED])
        raise Refused(
            f"The project “{content.get('title')}” has no task {names}: {len(missing)} of "
            f"{counted(len(keys), 'question', 'are')} from elsewhere. Read the gold "
            "questions from it, or "
            "leave the project blank."
        )
    # Only what the interface shows: other fields may hold the answer.
    data = {
        key: {name: value for name, value in tasks[key].items() if name in fields} for key in keys
    }
    return {INTERFACE: config, CONTROL: control.name, DATA: data}


def _questions(link: RunConnection) -> list[Question]:
    sets = [skill.question_set_id for skill in link.run.skills]
    return list(Question.objects.filter(question_set__in=sets, retired=None))


def build_data(link: RunConnection, assignment: Assignment) -> dict[str, Any]:
    question = assignment.question
    data = dict(link.memory.get(DATA, {}).get(question.key) or {})
    return (data or _plain_data(question)) | {NUMBER: str(assignment.pk)}


def _plain_data(question: Question) -> dict[str, Any]:
    texts = QuestionTexts.load(question.question_set, question.prompt, base=settings.PUBLIC_URL)
    choices = [{"value": choice} for choice in question.choices]
    return {"prompt": str(texts.html(question.prompt))} | ({"choices": choices} if choices else {})
