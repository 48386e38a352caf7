"""The production project of a watch: checks before gold questions come among its tasks."""

from collections.abc import Iterator

from selection.errors import Refused
from selection.models import Question, WatchConnection
from selection.texts import counted

from . import interface, places, reading
from .client import Client, Object
from .interface import Control

PLACES, NOTES = "places", "notes"  # of the link's memory
MOST_NAMED = 3


def prepare(link: WatchConnection, client: Client) -> None:
    """Check the project, and that it has a known worker. Raises Refused."""
    project = str(link.settings.get("project", "")).strip()
    if not project.isdigit():
        raise Refused("Enter the project's number: it is in its address, /projects/NUMBER.")
    content = client.project(project)
    if places.is_own(str(content.get("title", ""))):
        raise Refused(f"The project “{content['title']}” has a run's tasks: choose another one.")
    control, questions = interface.read_control(content), list(_questions(link))
    for question in questions:
        _refuse_misfit(question, control, content)
    _refuse_missing_data(link, client, content, questions)
    accounts = reading.accounts_by_name(client.list_users())
    workers = [row.worker for row in link.watch.workers.select_related("worker")]
    if not any(reading.account_of(places.names_of(one), accounts) for one in workers):
        raise Refused(places.UNKNOWN.format(f"“{workers[0]}”, or any other worker"))
    link.memory = {PLACES: {}, NOTES: []}


def _questions(link: WatchConnection) -> Iterator[Question]:
    rows = Question.objects.filter(question_set__watches=link.watch, retired=None)
    yield from rows.distinct()


def _refuse_misfit(question: Question, control: Control, project: Object) -> None:
    kinds = {"number": {"number"}, "text": interface.TYPED}
    fitting = kinds.get(control.kind, {"multiple", "single"} if control.multiple else {"single"})
    choices = question.choices if control.choices else []
    if question.kind in fitting and set(choices) <= set(control.choices):
        return
    offer = " | ".join(control.choices) or f"an answer of the kind “{control.kind}”"
    needs = " | ".join(question.choices) or f"an answer of the kind “{question.kind}”"
    raise Refused(
        f"The project “{project.get('title')}” asks for {offer}; gold question “{question.key}” "
        f"needs {needs}. Choose a project with the same labelling interface."
    )


def _refuse_missing_data(
    link: WatchConnection, client: Client, project: Object, questions: list[Question]
) -> None:
    source = str(link.settings.get("gold_project", "")).strip()
    if not source:
        text_variable(project)
        return
    if not source.isdigit():
        raise Refused("Project of the gold questions: enter its number.")
    there = {str(task["id"]) for task in client.list_tasks(source)}
    if missing := [one.key for one in questions if one.key not in there]:
        names = ", ".join(f"“{key}”" for key in missing[:MOST_NAMED])
        raise Refused(
            f"The project {source} has no task {names}: "
            f"{counted(len(missing), 'gold question', 'are')} from elsewhere. Read the gold "
            "questions from it, or leave the field blank."
        )


def text_variable(project: Object) -> str:
    """Find the only text that the interface shows. Raises Refused if there are more."""
    names = interface.variables_of(str(project.get("label_config", ""))) - {"choices"}
    if len(names) == 1:
        return names.pop()
    listed = ", ".join(sorted(names)) or "nothing"
    raise Refused(
        f"The interface of “{project.get('title')}” shows {listed}: enter the project of the gold "
        "questions, whose tasks have the same data."
    )
