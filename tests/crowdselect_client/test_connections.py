"""Connections and Prolific by the client, against a real server and stubs of the other side."""

from decimal import Decimal

import pytest

from crowdselect_client import ApiError, Client
from selection import connectors, engine
from selection.models import ApiToken, RunConnection
from selection.runs import worker_texts
from selection.runs.roster import roster_opening
from selection.runs.roster.enrolment import EnrolmentSource, enrol_worker
from selection.runs.worker_texts import PageFacts
from tests.jobs import job_worker
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.prolific_stub import TOKEN, WORKSPACE, serve_prolific
from tests.prolific_world import SETTINGS, WORKERS, answered, exchange
from tests.worlds import make_run

CONFIG = '<View><Text name="t" value="$text"/><Choices name="answer" toName="t"/></View>'
PARSED = {
    "answer": {"type": "Choices", "inputs": [{"value": "text"}], "labels": ["yes", "no"]},
}


@pytest.fixture
def client(live_server, settings):
    settings.CONNECTORS_INSIDE = True
    with Client(live_server.url, ApiToken.issue("client")) as made, job_worker():
        yield made


@pytest.fixture
def studio():
    with LabelStudioStub() as stub:
        project = stub.add_project(CONFIG, PARSED)
        stub.invite("ann@example.org", "bob@example.org")
        for i in range(5):
            task = stub.add_task(project, {"text": f"Say yes to {i}."})
            stub.annotate(task, {"choices": ["yes"]}, gold=True)
        yield stub


@pytest.mark.django_db(transaction=True)
def test_connection_verbs_reach_a_real_server(client, studio):
    tools = client.connections
    account = {"kind": "label_studio", "name": "Ours", "address": studio.url}
    made = tools.create(**account, secrets={"token": LEGACY})
    assert (made["state"], LEGACY in str(made)) == ("working", False)
    with pytest.raises(ApiError, match="already"):
        tools.create(**account, secrets={"token": LEGACY})
    assert tools.change(made["id"], name="Theirs")["name"] == "Theirs"
    assert [one["id"] for one in tools.all()] == [made["id"]]
    assert tools.show(made["id"])["address"] == studio.url
    (source,) = tools.sources(made["id"])
    pool, gold = client.create_pool("People")["id"], client.create_question_set("Birds")["id"]
    assert tools.read_questions(gold, made["id"], source["id"]) == 5
    assert tools.read_workers(pool, made["id"]) == 2  # not the account of the token

    watched = [{"worker": "ann@example.org", "level": 0.8}]
    settings = {"name": "Gold", "pool": pool, "question_sets": [gold], "workers": watched}
    watch = client.create_watch(**settings)
    joined = watch.connect(made["id"], project=source["id"])
    assert joined["settings"] == {"project": source["id"], "gold_project": ""}
    watch.disconnect(made["id"])
    assert [one["enabled"] for one in watch.connections()] == [False]

    run = client.create_run(name="r", pool=pool, question_set=gold, k=1)
    used = run.connect(made["id"], project=source["id"])
    assert used["settings"] == {"project": source["id"]}
    run.write_back(made["id"], "description", ["ann@example.org"])
    studio.projects.clear()
    connectors.exchange(made["id"])
    (call,) = tools.calls(made["id"])
    assert (call["kind"], call["state"]) == ("selection.write", "failed")
    tools.repeat_call(call["id"])
    assert [one["state"] for one in tools.calls(made["id"])] == ["retrying", "failed"]
    assert tools.change(made["id"], paused=True)["state"] == "paused"
    run.disconnect(made["id"])
    assert [one["enabled"] for one in run.connections()] == [False]
    with pytest.raises(ApiError, match="pause it instead"):
        tools.delete(made["id"])
    other = tools.create(**account | {"name": "Third"}, secrets={"token": LEGACY})
    tools.delete(other["id"])
    assert len(tools.all()) == 1


def make_prolific_run():
    made = make_run(n=0, k=2, enrolling=True, platform="prolific", epsilon=0.4, slots=60)
    for number, worker in enumerate(WORKERS):
        enrol_worker(made, worker, source=EnrolmentSource("prolific", f"s{number}"))
    roster_opening.close_roster(made)
    made.currency = "GBP"
    made.save(update_fields=["currency"])
    worker_texts.change_facts(made, PageFacts(Decimal("0.50")))
    engine.advance(made.pk)
    return made


@pytest.mark.django_db(transaction=True)
def test_a_study_and_its_bonuses_by_the_client(client):
    made = make_prolific_run()
    with serve_prolific() as there:
        lab = client.connections.create(
            kind="prolific",
            name="Lab",
            address=there.url,
            secrets={"token": TOKEN},
            settings={"workspace": WORKSPACE},
        )
        run = client.run(made.pk)
        run.connect(lab["id"], **SETTINGS)
        assert "studies/" in [one["path"] for one in run.prolific.dry_run()]
        assert run.prolific.create_study()["state"] == "waiting"
        with pytest.raises(ApiError, match="https"):
            run.prolific.subscribe()
        link = RunConnection.objects.get()
        exchange(link)
        assert run.prolific.show()["study"] in there.studies
        answered(made)
        code = worker_texts.completion_code(made, "done")
        for worker in WORKERS[:2]:
            there.submit(worker, "AWAITING REVIEW", code)
        exchange(link)
        due = run.prolific.propose_bonuses()
        assert set(due["bonuses"]) == set(WORKERS[:2])
        with pytest.raises(ApiError, match="confirm the new amount"):
            run.prolific.confirm_bonuses(due["total"] + 1)
        there.faults["POST"] = [None, None, 500]
        batch = run.prolific.confirm_bonuses(due["total"])
        assert batch["state"] == "confirmed"
        for _ in range(3):
            exchange(link)
        (shown,) = run.prolific.show()["batches"]
        if shown["state"] == "uncertain":
            run.prolific.settle_bonuses(shown["key"], paid=False)
        assert shown["total"] == due["total"]
