"""A watch whose workers are people of a Label Studio, for tests."""

from datetime import timedelta

from selection import connectors, db_clock
from selection.models import Connection, GoldTask, QuestionSet, Watch, WatchConnection
from tests.label_studio_stub import LabelStudioStub
from tests.selection.watches.worlds import make_watch

CONFIG = (
    '<View><Text name="prompt" value="$text"/><Choices name="answer" toName="prompt">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)
PARSED = {"answer": {"type": "Choices", "inputs": [{"value": "text"}], "labels": ["yes", "no"]}}
RANDOM = {"sampling": "Uniform sampling"}
MANUAL = {"assignment_settings": {"label_stream_task_distribution": "assigned_only"}}


def add_project(studio: LabelStudioStub, tasks: int = 95, **settings: object) -> int:
    project = studio.add_project(CONFIG, PARSED)
    studio.projects[project] |= RANDOM | settings
    for i in range(tasks):
        studio.add_task(project, {"text": f"Bird {i}?"})
    return project


def watch_with(studio: LabelStudioStub, workers: int = 3, **settings: object) -> Watch:
    """Make a watch whose workers w0, w1, … are the people of Label Studio."""
    watch = make_watch(workers, **settings)
    QuestionSet.objects.get(watches=watch).questions.update(choices=["yes", "no"])
    for worker in watch.pool.workers.all():
        worker.attributes = {"label_studio": f"{worker.key}@example.org"}
        worker.save()
    return watch


def exchange(link: WatchConnection) -> None:
    """Let an exchange happen as if the last one was long ago."""
    past = db_clock.database_now() - timedelta(minutes=5)
    Connection.objects.update(rests_until=past)
    WatchConnection.objects.update(polled=past)
    GoldTask.objects.filter(state="waiting").exclude(tried=None).update(tried=past)
    connectors.exchange(link.connection_id)
    link.refresh_from_db()
    link.connection.refresh_from_db()


def lying(studio: LabelStudioStub, link: WatchConnection, **lookup: object) -> list[int]:
    """List the ids of the gold tasks that lie there."""
    rows = link.gold_tasks.filter(state="sent", **lookup).order_by("pk")
    return [
        int(one) for one in rows.values_list("outside_id", flat=True) if int(one) in studio.tasks
    ]


def user(studio: LabelStudioStub, name: str) -> int:
    return next(int(one["id"]) for one in studio.users if one["email"] == f"{name}@example.org")


def join(watch: Watch, connection: Connection, project: int, **settings: str) -> WatchConnection:
    link = connectors.connect_watch(watch, connection, {"project": str(project), **settings})
    exchange(link)
    return link
