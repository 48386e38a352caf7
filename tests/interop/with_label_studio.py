"""Runs with workers in a real Label Studio, without a file; run by ``make interop`` alone.

INTEROP_OUTAGE  seconds for which Label Studio is killed in the middle; 60 by default
"""

import os
import statistics
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from pytest_django.live_server_helper import LiveServer

from selection import connectors, reports, wakeups
from selection.models import (
    Answer,
    Connection,
    OutsideTask,
    Pool,
    QuestionSet,
    Run,
    default_team,
)
from selection.runs import lifecycle
from tests.processes import celery_worker, wait_until
from tests.worlds import make_run

from .label_studio_server import TOKEN, Annotator, LabelStudio, label_studio

pytestmark = pytest.mark.django_db(transaction=True)
OUTAGE = float(os.environ.get("INTEROP_OUTAGE", "60"))
PEOPLE, GOOD, GOLD = 8, 3, 200
POLLED = timedelta(seconds=60)  # an answer is here after so long, even if its message was lost
CONFIG = (
    '<View><Text name="prompt" value="$prompt"/><Choices name="answer" toName="prompt">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    with label_studio(tmp_path_factory.mktemp("studio")) as server:
        yield server


@pytest.fixture(scope="module")
def tokens(studio: LabelStudio) -> dict[str, str]:
    return {name: studio.sign_up(name) for name in (f"p{i}@example.org" for i in range(PEOPLE))}


@pytest.fixture(scope="module")
def gold_project(studio: LabelStudio, tokens: dict[str, str]) -> str:
    """A project with ground truth, by its own API."""
    with studio.client() as client:
        fields = {"title": "Birds", "label_config": CONFIG}
        project = client.post("/api/projects/", json=fields).json()["id"]
        tasks = [{"data": {"prompt": f"Say yes to {i}.", "truth": "yes"}} for i in range(GOLD)]
        path = f"/api/projects/{project}/import?return_task_ids=true"
        for task in client.post(path, json=tasks).json()["task_ids"]:
            value = {"choices": ["yes"]}
            result = {"from_name": "answer", "to_name": "prompt", "type": "choices", "value": value}
            body = {"result": [result], "ground_truth": True}
            client.post(f"/api/tasks/{task}/annotations/", json=body).raise_for_status()
    return str(project)


@pytest.fixture
def worker_process(
    live_server: LiveServer, settings: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """Celery with its clock, as ``make run`` has it."""
    settings.CONNECTORS_INSIDE = True  # type: ignore[attr-defined]
    monkeypatch.setenv("CONNECTORS_INSIDE", "1")
    monkeypatch.setenv("PUBLIC_URL", live_server.url)
    with celery_worker("-B", "--schedule", str(tmp_path / "beat"), "--concurrency", "3"):
        yield


def connect(studio: LabelStudio) -> Connection:
    secrets = {"token": TOKEN}
    return connectors.create_connection(default_team(), "label_studio", "Ours", secrets, studio.url)


def read(connection: Connection, project: str, **settings: object) -> Run:
    """Return a draft of a run with workers and questions from Label Studio."""
    questions, pool = QuestionSet.objects.create(name="gold"), Pool.objects.create(name="people")
    assert connectors.import_gold(questions, connection, project) == GOLD
    connectors.import_workers(pool, connection)
    return make_run(pool=pool, question_set=questions, start=False, **settings)


def start(run: Run) -> None:
    lifecycle.start_run(run)
    wakeups.send_step(run.pk, delay=0)


def responder(name: str):
    """Good people know; the others guess. A prompt always gets the same answer."""
    person = int(name[1 : name.index("@")])

    def respond(prompt: str) -> str | None:
        rng = np.random.default_rng([person, *prompt.encode()])
        if rng.random() < 0.02:
            return None
        return "yes" if rng.random() < (0.98 if person < GOOD else 0.4) else "no"

    return respond


def seconds_to_task(run: Run) -> list[float]:
    """Return the time from each assignment to its task in Label Studio."""
    steps = dict(run.history.values_list("number", "at"))
    rows = OutsideTask.objects.filter(link__run=run, assignment__isnull=False, sent__isnull=False)
    return sorted(
        (sent - steps[step]).total_seconds()
        for sent, step in rows.values_list("sent", "assignment__step")
    )


def describe(name: str, times: list[float]) -> None:
    print(
        f"\n{name}: {len(times)} tasks, median {statistics.median(times):.2f} s, "
        f"worst {times[-1]:.2f} s"
    )


def is_ended(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).status == Run.Status.ENDED


def annotations_of(studio: LabelStudio, run: Run) -> dict[int, tuple[str, datetime]]:
    """Return the answer and time in Label Studio by assignment; "" for a skipped task."""
    given: dict[int, tuple[str, datetime]] = {}
    with studio.client() as client:
        for place in run.connections.get().workers.values_list("place", flat=True):
            query = {"project": place, "fields": "all", "page_size": 1000}
            for task in client.get("/api/tasks", params=query).json()["tasks"]:
                for one in task["annotations"]:
                    chosen = [each["value"]["choices"][0] for each in one["result"]]
                    number = int(task["data"]["crowdselect"])
                    assert number not in given, "two answers to one task"
                    at = datetime.fromisoformat(one["created_at"])
                    given[number] = "" if one["was_cancelled"] else chosen[0], at
    return given


def play(
    studio: LabelStudio, tokens: dict[str, str], run: Run, outage: float
) -> dict[int, datetime]:
    """Let all workers answer until the run ends; return when each answer was given.

    outage  seconds for which Label Studio is killed in the middle
    """
    people = [Annotator(studio, name, token, responder(name)) for name, token in tokens.items()]
    for person in people:
        person.start()
    if outage:
        wait_until(lambda: run.answers.count() >= 30, "the first answers")
        studio.kill()
        time.sleep(outage)
        studio.start()
    wait_until(lambda: is_ended(run), "the end of the run", 1200)
    for person in people:
        person.stopped.set()
    for person in people:
        person.join(30)
    return {number: at for person in people for number, at in person.made.items()}


@pytest.mark.parametrize("outage", [0.0, OUTAGE])
def test_a_run_is_played_to_its_end(studio, tokens, gold_project, worker_process, outage):
    connection = connect(studio)
    settings = {"algorithm": "certified", "epsilon": 0.1, "delta": 0.05, "slots": 24}
    run = read(connection, gold_project, k=GOOD, **settings)
    connectors.connect_run(run, connection, {"project": gold_project})
    start(run)
    made = play(studio, tokens, run, outage)
    link = run.connections.get()
    wait_until(lambda: not link.tasks.present().exists(), "the removal of open tasks", 90)
    run.refresh_from_db()
    times = seconds_to_task(run)
    describe(f"outage of {outage:g} s" if outage else "no outage", times)
    # Each answer here is one given there, and each one given there counts or is listed.
    stored = dict(run.answers.values_list("assignment_id", "response"))
    given = annotations_of(studio, run)
    assert {number: given[number][0] for number in stored} == stored
    assert run.ended is not None
    counted = set(
        Answer.objects.filter(run=run, applied_in__isnull=False).values_list("pk", flat=True)
    )
    assert len(counted) == sum(run.candidates.values_list("pulls", flat=True))
    assert made.keys() == {number for number, (answer, _) in given.items() if answer}
    listed = dict(run.uncounted.exclude(at=None).values_list("number", "reason"))
    listed |= dict.fromkeys(stored.keys() - counted, reports.UNREACHED)
    assert made.keys() <= counted | listed.keys()
    assert not counted & listed.keys()
    early = {number for number, at in made.items() if at < run.ended}
    reasons = {each.reason: each.answers for each in reports.count_uncounted(run)}
    assert sum(reasons.values()) == len(listed)
    print(
        f"{len(early)} answers given before the end and {len(made.keys() - early)} after it; "
        f"{len(early & counted)} counted; not counted: {reasons}"
    )
    # Nothing that was given in time was withdrawn; only what is fetched after the end can miss it.
    assert set(reasons) <= {"ended", reports.UNREACHED}
    in_time = {number for number in early if made[number] < run.ended - POLLED}
    assert in_time <= counted | {number for number in listed if listed[number] == reports.UNREACHED}
    chosen = {one.worker.key for one in run.candidates.filter(verdict=1)}
    assert chosen == {f"p{i}@example.org" for i in range(GOOD)}
    connectors.write_back(link, "description", sorted(chosen))
    wait_until(lambda: not connection.calls.pending().exists(), "the selection to be written", 60)
    with studio.client() as client:
        text = client.get(f"/api/projects/{gold_project}/").json()["description"]
    assert all(name in text for name in chosen)


def test_a_thousand_tasks_are_open(studio, tokens, gold_project, worker_process):
    connection = connect(studio)
    run = read(connection, gold_project, k=GOOD, slots=1000, slots_per_worker=125)
    link = connectors.connect_run(run, connection)
    start(run)
    sent = link.tasks.filter(state=OutsideTask.State.SENT)
    wait_until(lambda: sent.count() == 1000, "a thousand tasks", 300)
    describe("a thousand open tasks", seconds_to_task(run))
    lifecycle.stop_run(run)
    wait_until(lambda: not link.tasks.present().exists(), "their removal", 300)
