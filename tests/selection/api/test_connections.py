"""Connections through the API: connect, read, connect a run, write back; no secret comes out."""

import pytest
from django.test import Client

from selection import connectors, engine
from selection.models import ApiToken, Connection, ConnectorCall, Pool, QuestionSet
from tests.jobs import finish_job
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.worlds import make_run

pytestmark = pytest.mark.django_db
CONFIG = '<View><Text name="t" value="$text"/><Choices name="answer" toName="t"/></View>'
PARSED = {
    "answer": {"type": "Choices", "inputs": [{"value": "text"}], "labels": ["yes", "no"]},
}


@pytest.fixture
def studio(settings):
    settings.CONNECTORS_INSIDE = True
    with LabelStudioStub() as stub:
        project = stub.add_project(CONFIG, PARSED)
        stub.invite("ann@example.org", "bob@example.org", "cy@example.org")
        for i in range(40):
            task = stub.add_task(project, {"text": f"Say yes to {i}."})
            stub.annotate(task, {"choices": ["yes"]}, gold=True)
        yield stub


@pytest.fixture
def call():
    client = Client(headers={"authorization": f"Bearer {ApiToken.issue('program')}"})

    def send(method, path, **body):
        ask = getattr(client, method)
        if method == "get":
            return ask(f"/api/{path}")
        return ask(f"/api/{path}", body, content_type="application/json")

    return send


def connect(call, studio, **changes):
    body = {"kind": "label_studio", "name": "Ours", "address": studio.url}
    return call("post", "connections", **body, **({"secrets": {"token": LEGACY}} | changes))


def make(call, studio, **changes):
    """Return the id of the connection that the job has stored."""
    return finish_job(connect(call, studio, **changes)).result["connection"]


def test_a_run_is_connected_from_gold_to_selection(call, studio):
    pk = make(call, studio)
    (source,) = finish_job(call("get", f"connections/{pk}/sources")).result
    assert source["name"] == "Birds"
    questions = QuestionSet.objects.create(name="gold")
    pool = Pool.objects.create(name="people")
    body = {"connection": pk, "source": source["id"]}
    gold = finish_job(call("post", f"question-sets/{questions.pk}/read", **body))
    assert gold.result == {"stored": 40}
    stored = finish_job(call("post", f"pools/{pool.pk}/read", connection=pk)).result
    assert stored == {"stored": 3}  # without the account of the token, which knows the gold
    run = make_run(pool=pool, question_set=questions)
    engine.advance(run.pk)
    settings = {"project": source["id"]}
    linked = call("post", f"runs/{run.pk}/connections", connection=pk, settings=settings)
    assert finish_job(linked).result["connection"] == pk
    connectors.exchange(pk)
    (link,) = call("get", f"runs/{run.pk}/connections").json()
    assert (link["connection"], link["enabled"], link["problem"]) == (pk, True, "")
    calls = call("get", f"connections/{pk}/calls").json()
    assert {one["state"] for one in calls} == {"delivered"}
    body = {"mode": "description", "workers": ["ann@example.org"]}
    reply = call("post", f"runs/{run.pk}/connections/{pk}/write-back", **body)
    assert reply.status_code == 202
    connectors.exchange(pk)
    assert "ann@example.org" in studio.projects[int(source["id"])]["description"]
    assert call("delete", f"runs/{run.pk}/connections/{pk}").status_code == 204
    assert call("delete", f"connections/{pk}").status_code == 409  # the run's record needs it


def test_no_reply_has_the_token(call, studio):
    pk = make(call, studio)
    changed = call("patch", f"connections/{pk}", name="Theirs", secrets={"token": LEGACY})
    job = finish_job(changed)
    assert (LEGACY in str(job.wanted), Connection.objects.get().name) == (False, "Theirs")
    paths = ("connections", f"connections/{pk}", f"jobs/{job.pk}")
    for reply in [changed, *(call("get", path) for path in paths)]:
        assert reply.status_code in (200, 202)
        assert LEGACY not in reply.content.decode()


def test_pausing_needs_no_check(call, studio):
    pk = make(call, studio)
    studio.stop()
    assert call("patch", f"connections/{pk}", paused=True).json()["state"] == "paused"
    assert call("patch", f"connections/{pk}", name="Another").status_code == 409
    assert Connection.objects.get().name == "Ours"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "unknown"}, "There is no connector “unknown”"),
        ({"secrets": {}}, "Enter the access token."),
        ({"secrets": {"password": "x"}}, "There is no secret “password”"),
        ({"name": ""}, "A name has 1 to 100 characters."),
        ({"settings": {"colour": 1}}, "There is no setting “colour”"),
        ({"address": "ftp://example.org"}, "must begin with https://"),
    ],
)
def test_wrong_values_are_refused_in_a_sentence(call, studio, changes, words):
    body = {"kind": "label_studio", "name": "Ours", "address": studio.url}
    body |= {"secrets": {"token": LEGACY}} | changes
    reply = call("post", "connections", **body)
    assert reply.status_code == 422
    assert words in reply.json()["error"]
    assert not Connection.objects.exists()


def test_a_wrong_token_is_told_by_the_job_and_nothing_is_stored(call, studio):
    job = finish_job(connect(call, studio, secrets={"token": "wrong-token"}))
    assert (job.state, job.status) == ("failed", 422)
    assert "does not accept the token" in job.error
    assert not Connection.objects.exists()


def test_a_failed_call_is_made_again_and_no_other(call, studio):
    pk = make(call, studio)
    run = make_run(pool=connectors.create_pool(Connection.objects.get()))
    engine.advance(run.pk)
    finish_job(call("post", f"runs/{run.pk}/connections", connection=pk))
    call("post", f"runs/{run.pk}/connections/{pk}/write-back", mode="description", workers=["a"])
    connectors.exchange(pk)
    failed = ConnectorCall.objects.get(kind="selection.write")
    assert "Enter the project" in failed.said
    assert call("post", f"connector-calls/{failed.pk}/repeat").status_code == 202
    sent = ConnectorCall.objects.filter(kind="tasks.send").first()
    assert call("post", f"connector-calls/{sent.pk}/repeat").status_code == 422
