"""Models as workers by the API: servers, settings, test calls, calls and money."""

import json
from typing import Any

import pytest

from selection.model_workers.price_list import SOURCE
from selection.models import (
    AuditEntry,
    Endpoint,
    ModelCall,
    ModelServer,
    ModelSpending,
    Run,
)
from selection.runs import lifecycle
from tests.jobs import finish_job
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import inside as inside  # allows the stub's address
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"
YAML = """
models:
- model: [m1, m2]
  server: Stub
  temperature: [0, 1]
  max_tokens: 10
  price_in: 1
  price_out: 2
"""


def say_yes(model: str, text: str) -> str:
    return "yes"


def create_server(manager: Any, url: str, **fields: Any) -> Any:
    return manager.post("model-servers", {"name": "Stub", "url": url, **fields})


def test_a_server_is_made_listed_changed_and_deleted(manager):
    with ModelStub(say_yes) as stub:
        made = create_server(manager, stub.url, key="sk-secret-1", concurrency=3)
        assert made.status_code == 201
        body = made.json()
        assert (body["has_key"], body["concurrency"], body["requests_per_minute"]) == (
            True,
            3,
            None,
        )
        path = f"model-servers/{body['id']}"
        assert manager.get("model-servers").json() == [body] == [manager.get(path).json()]
        assert finish_job(manager.get(f"{path}/models")).result == {"models": ["m1", "m2"]}
        changed = manager.patch(path, {"requests_per_minute": 60})
        assert changed.json() == body | {"requests_per_minute": 60}
        assert manager.patch(path, {"key": ""}).json()["has_key"] is False
    assert "does not list its models" in finish_job(manager.get(f"{path}/models")).error
    assert manager.delete(path).status_code == 204
    assert not ModelServer.objects.exists()


def test_a_server_of_workers_stays(manager):
    run = make_model_run(OFF, models=3)
    server = ModelServer.objects.get()
    refused = manager.delete(f"model-servers/{server.pk}")
    assert refused.status_code == 409
    expected = f"“{server}” is the server of the workers “w0”, “w1”, “w2”, and stays."
    assert refused.json() == {"error": expected}
    assert run.pool.workers.count() == 3


def test_a_stored_key_is_not_sent_to_a_new_address(manager):
    made = create_server(manager, OFF, key="sk-secret-1").json()
    path = f"model-servers/{made['id']}"
    refused = manager.patch(path, {"url": "http://127.0.0.1:10/v1"})
    assert refused.status_code == 422
    assert refused.json()["error"] == "key: The address has changed: enter the API key again."
    assert manager.patch(path, {"url": "http://127.0.0.1:9/v2"}).status_code == 200
    moved = {"url": "http://127.0.0.1:10/v1", "key": "sk-secret-2"}
    assert manager.patch(path, moved).status_code == 200


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://api.example.org/v1", 201),
        ("https://api.example.org.evil.org/v1", 422),
        ("https://evil.org/https://api.example.org", 422),
    ],
)
def test_a_key_of_the_environment_is_sent_to_its_own_address_only(manager, settings, url, status):
    settings.MODEL_KEYS = {"EXAMPLE_KEY": "https://api.example.org"}
    assert create_server(manager, url, key_variable="EXAMPLE_KEY").status_code == status


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"url": "ftp://example.org"}, "https"),
        ({"key_variable": "NO_SUCH"}, "MODEL_KEYS"),
        ({"name": ""}, "name"),
        ({"concurrency": 0}, "concurrency"),
    ],
)
def test_a_wrong_server_is_refused_in_a_sentence(manager, fields, word):
    refused = manager.post("model-servers", {"name": "S", "url": "http://127.0.0.1:9"} | fields)
    assert refused.status_code == 422
    assert word in refused.json()["error"]
    assert not ModelServer.objects.exists()


def test_models_are_added_by_a_file_or_its_entries(manager):
    create_server(manager, OFF)
    pool = make_pool(1)
    path = f"pools/{pool.pk}/models"
    assert manager.post(path, {"yaml": YAML}).json() == {"added": 4, "changed": 0}
    entry = {"model": ["m1", "m3"], "server": "Stub", "temperature": [0, 1], "price_in": 1e-05}
    assert manager.post(path, {"models": [entry]}).json() == {"added": 2, "changed": 2}
    listed = manager.get(path).json()
    assert {row["worker"] for row in listed} == {
        f"{model}, t={heat}" for model in ("m1", "m2", "m3") for heat in (0, 1)
    }
    shown = manager.get(f"{path}/m1, t=1").json()
    assert (shown["model"], shown["temperature"], shown["price_in"]) == ("m1", 1, 1e-05)
    assert shown["published"] is None
    assert manager.get(f"{path}/w0").status_code == 404


def test_published_prices_are_read_only(manager):
    create_server(manager, "https://api.openai.com/v1")
    path = f"pools/{make_pool(1).pk}/models"
    manager.post(path, {"models": [{"model": "gpt-4o-mini", "server": "Stub", "price_in": 0}]})
    (shown,) = manager.get(path).json()
    prices = {"price_in": 0.15, "price_out": 0.6, "price_call": 0}
    assert shown["published"] == prices | {"source": SOURCE}
    assert (shown["price_in"], shown["price_out"]) == (0, 0)
    changed = manager.patch(f"{path}/gpt-4o-mini", {"published": prices})
    assert changed.status_code == 422


def test_a_file_with_a_fault_stores_nothing(manager):
    create_server(manager, OFF)
    path = f"pools/{make_pool(1).pk}/models"
    text = "servers:\n  New:\n    url: http://127.0.0.1:9\n" + YAML + "- model: x\n  server: None\n"
    refused = manager.post(path, {"yaml": text})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("Line 13, column 3: there is no server “None”")
    assert not Endpoint.objects.exists()
    assert ModelServer.objects.count() == 1


def test_the_settings_of_a_model_change_one_by_one(manager):
    run = make_model_run(OFF, start=False)
    path = f"pools/{run.pool_id}/models/w0"
    before = manager.get(path).json()
    assert before["temperature"] == 0
    changed = manager.patch(path, {"temperature": None, "system_prompt": "Be brief."}).json()
    assert changed == before | {"temperature": None, "system_prompt": "Be brief."}
    refused = manager.patch(path, {"template": "{nothing}"})
    assert "template: The template has the placeholder {nothing}" in refused.json()["error"]
    assert manager.get(path).json() == changed
    assert manager.delete(path).status_code == 204
    assert manager.get(path).status_code == 404
    assert run.pool.workers.filter(key="w0").exists()


def test_a_model_stays_while_its_run_goes_on(manager):
    run = make_model_run(OFF)
    refused = manager.delete(f"pools/{run.pool_id}/models/w0")
    assert refused.status_code == 409
    assert f"The run “{run}” goes on with this model" in refused.json()["error"]


def test_test_call_shows_request_and_reply(manager):
    questions = make_questions(2)
    with ModelStub(say_yes) as stub:
        run = make_model_run(stub.url, start=False, endpoint={"price_in": 1, "price_out": 2})
        Endpoint.objects.update(problem="It failed.", failures=2)
        body = {"worker": "w0", "question_set": questions.pk}
        shown = finish_job(manager.post(f"pools/{run.pool_id}/test-calls", body)).result
    assert (shown["reply"], shown["answer"], shown["problem"]) == ("yes", "yes", "")
    assert shown["cost"] == pytest.approx(24e-6)
    assert json.loads(shown["request"]) == stub.bodies[0]
    assert "Say yes to 0." in shown["request"]
    call = ModelCall.objects.get()
    assert (call.run, call.assignment, call.state) == (None, None, ModelCall.State.REPLIED)
    failing = Endpoint.objects.exclude(problem="").values_list("worker__key", flat=True)
    assert "w0" not in failing
    assert not ModelSpending.objects.exists()


def test_a_test_call_of_a_server_that_is_off_says_so(manager):
    questions = make_questions(2)
    run = make_model_run(OFF, start=False)
    body = {"worker": "w0", "question_set": questions.pk, "question": "q1"}
    shown = finish_job(manager.post(f"pools/{run.pool_id}/test-calls", body)).result
    assert shown["problem"].startswith("No connection")
    assert (shown["reply"], shown["answer"], shown["cost"]) == ("", "", 0)
    unknown = manager.post(f"pools/{run.pool_id}/test-calls", body | {"question": "q9"})
    assert unknown.status_code == 404
    assert "no question “q9”" in unknown.json()["error"]


def test_a_test_call_ends_at_its_timeout(manager):
    questions = make_questions(1)
    with ModelStub(say_yes, seconds=30) as stub:
        run = make_model_run(stub.url, start=False, endpoint={"timeout": 0.2})
        body = {"worker": "w0", "question_set": questions.pk}
        shown = finish_job(manager.post(f"pools/{run.pool_id}/test-calls", body)).result
    assert shown["problem"] == "No reply within 0.2 seconds."


def test_the_models_of_a_draft_are_checked(manager):
    with ModelStub(say_yes) as stub:
        run = make_model_run(stub.url, models=3, start=False)
        result = finish_job(manager.post(f"runs/{run.pk}/model-checks")).result
    assert result["total"] == len(result["models"]) == stub.calls == 3
    assert {(row["answer"], row["good"]) for row in result["models"]} == {("yes", True)}
    lifecycle.start_run(run)
    assert manager.post(f"runs/{run.pk}/model-checks").status_code == 409
    people = make_run(start=False)
    assert "No model takes part" in manager.post(f"runs/{people.pk}/model-checks").json()["error"]


def add_calls(run: Run, count: int) -> None:
    workers = [row.worker for row in run.candidates.order_by("worker__key")]
    question = run.question_set.questions.first()
    states = list(ModelCall.State)
    for number in range(count):
        ModelCall.objects.create(
            run=run,
            worker=workers[number % len(workers)],
            question=question,
            digest="d",
            state=states[number % len(states)],
            sent=run.started,
            expires=run.started,
            cost=500_000_000 + number,
            reply=f"reply {number}",
        )


def test_the_ledger_is_read_in_pages_and_by_state_and_worker(manager):
    run = make_model_run(OFF, models=4)
    add_calls(run, 10)
    path = f"runs/{run.pk}/calls"
    first = manager.get(path, limit=7)
    assert [row["reply"] for row in first.json()] == [f"reply {n}" for n in range(7)]
    cursor = first.headers["Link"].split("cursor=")[1].split(">")[0].split("&")[0]
    assert len(manager.get(path, limit=7, cursor=cursor).json()) == 3
    assert {row["state"] for row in manager.get(path, state="failed").json()} == {"failed"}
    by_worker = manager.get(path, worker="w1").json()
    assert [row["reply"] for row in by_worker] == ["reply 1", "reply 5", "reply 9"]
    assert by_worker[0]["cost"] == 0.500000001
    assert manager.get(path, state="lost").status_code == 422


def test_a_run_is_limited_before_its_start_and_while_it_goes_on(manager):
    run = make_model_run(OFF, start=False)
    path = f"runs/{run.pk}/spending"
    nothing = {"spent": 0, "in_flight": 0, "limit": None, "forecast": None}
    assert manager.get(path).json() == nothing
    assert manager.put(path, {"limit": "2.5"}).json() == nothing | {"limit": 2.5}
    assert ModelSpending.objects.get().limit == 2_500_000_000
    ModelSpending.objects.update(spent=1_000_000_000, in_flight=5)
    assert manager.get(path).json() == {
        "spent": 1,
        "in_flight": 5e-9,
        "limit": 2.5,
        "forecast": None,
    }
    assert manager.put(path, {"limit": None}).json()["limit"] is None
    entries = AuditEntry.objects.filter(model="run", after__has_key="cost_limit").order_by("pk")
    assert [entry.after["cost_limit"] for entry in entries] == [2.5, None]
    assert manager.put(path, {"limit": -1}).status_code == 422


def test_an_ended_run_is_not_limited(manager):
    run = make_model_run(OFF)
    assert manager.post(f"runs/{run.pk}/transitions/stop").status_code == 200
    refused = manager.put(f"runs/{run.pk}/spending", {"limit": 1})
    assert refused.status_code == 409
    assert "has ended" in refused.json()["error"]


def test_changes_are_in_the_audit_log(manager):
    made = create_server(manager, OFF, key="sk-secret-1").json()
    path = f"pools/{make_pool(1).pk}/models"
    manager.post(path, {"yaml": YAML})
    manager.patch(f"{path}/m1, t=0", {"temperature": 0.5})
    manager.delete(f"{path}/m1, t=0")
    manager.patch(f"model-servers/{made['id']}", {"concurrency": 9})
    server = AuditEntry.objects.filter(model="modelserver").order_by("pk")
    assert [entry.kind for entry in server] == ["added", "changed"]
    assert server[0].after["key_encrypted"] == "hidden"
    assert server[1].after == {"concurrency": 9}
    changed = AuditEntry.objects.get(model="endpoint", kind="changed")
    assert (changed.before, changed.after) == ({"temperature": 0}, {"temperature": 0.5})
    assert AuditEntry.objects.filter(model="endpoint", kind="deleted").count() == 1
    assert AuditEntry.objects.get(model="pool", kind="import").after == {"models": 4}


def test_a_large_grid_is_stored_in_few_queries(manager, django_assert_max_num_queries):
    create_server(manager, OFF)
    path, seeds = f"pools/{make_pool(1).pk}/models", list(range(500))
    entry = {"model": ["m1", "m2"], "server": "Stub", "seed": seeds}
    with django_assert_max_num_queries(100):
        assert manager.post(path, {"models": [entry]}).json() == {"added": 1000, "changed": 0}
        assert manager.post(path, {"models": [entry]}).json() == {"added": 0, "changed": 1000}
    assert Endpoint.objects.count() == 1000


def test_a_person_of_a_run_does_not_become_a_model(manager):
    create_server(manager, OFF)
    run = make_run()
    entries = [{"model": name, "server": "Stub"} for name in ("new", "w1")]
    refused = manager.post(f"pools/{run.pool_id}/models", {"models": entries})
    assert refused.status_code == 409
    assert refused.json()["error"] == "The worker “w1” takes part in a run as a person."
    assert not Endpoint.objects.exists()


def test_reading_program_changes_nothing_and_calls_no_model(manager, program):
    reader = program("read")
    made = create_server(manager, OFF).json()
    assert reader.get("model-servers").json() == [made]
    for method, path in (
        ("post", "model-servers"),
        ("patch", f"model-servers/{made['id']}"),
        ("delete", f"model-servers/{made['id']}"),
        ("get", f"model-servers/{made['id']}/models"),
        ("post", "pools/1/models"),
        ("post", "pools/1/test-calls"),
        ("put", "runs/1/spending"),
    ):
        assert reader(method, path).status_code == 403, path
