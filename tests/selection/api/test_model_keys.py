"""The API key of a model server is nowhere but in the header of a call."""

import json
import logging
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from selection import exports, model_workers, reports
from selection.model_workers import dispatcher, ledger
from selection.model_workers.call_pool import CallPool
from selection.models import AuditEntry, Endpoint, ModelServer, Run
from tests.jobs import finish_job
from tests.model_stub import ModelStub
from tests.pages import admin_url
from tests.selection.model_workers.conftest import inside as inside  # allows the stub's address
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db
KEY = "sk-planted-7f3a9c"


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return all that is said: replies and pages are added to it, logs come at the end."""
    caplog.set_level(logging.DEBUG)
    return []


def reply_with_key(model: str, text: str) -> str:
    return f"yes. Your key is {KEY}"


def take_turns(run: Run) -> None:
    with CallPool() as pool:
        calls = dispatcher.Dispatcher(pool, frozenset([run.pk]))
        calls.take_turn(0.05)
        calls.finish()


def stored_text() -> str:
    """Return every row of every table."""
    models = apps.get_app_config("selection").get_models()
    rows = [list(model._default_manager.order_by("pk").values()) for model in models]
    return repr(rows)


def use_api(manager: Any, heard: list[str], stub: ModelStub) -> Run:
    """Do all that a program can do with models; return the run that took place."""

    def note(response: Any) -> Any:
        heard.append(f"{response.content.decode()} {response.headers}")
        return response

    made = {"name": "S", "url": stub.url, "key": KEY}
    server = note(manager.post("model-servers", made)).json()["id"]
    pool, questions = make_pool(2), make_questions(50)
    entries = [{"model": ["m1", "m2", "m3"], "server": "S", "timeout": 3, "price_call": 1}]
    note(manager.post(f"pools/{pool.pk}/models", {"models": entries}))
    note(manager.patch(f"model-servers/{server}", {"key": f"{KEY}\n{KEY}"}))
    note(manager.patch(f"model-servers/{server}", {"key": KEY, "key_variable": "NAME"}))
    note(manager.patch(f"model-servers/{server}", {"key": KEY}))
    test = {"worker": "m1", "question_set": questions.pk}
    for status in (None, 401, 500):
        stub.status, stub.error = status, f"The key {KEY} is wrong"
        job = finish_job(manager.post(f"pools/{pool.pk}/test-calls", test))
        note(manager.get(f"jobs/{job.pk}"))
    job = finish_job(manager.get(f"model-servers/{server}/models"))
    note(manager.get(f"jobs/{job.pk}"))
    run = make_run(pool=pool, question_set=questions, slots=100, slots_per_worker=5)
    take_turns(run)
    stub.status = None
    Endpoint.objects.update(rests_until=None)
    take_turns(run)
    for path in ("calls", "spending", "events", "standings", "answers", ""):
        note(manager.get(f"runs/{run.pk}/{path}".rstrip("/")))
    note(manager.get(f"pools/{pool.pk}/models"))
    note(manager.get("model-servers"))
    return run


def test_the_key_is_in_no_reply_page_row_file_or_log(manager, requester, heard, caplog):
    with ModelStub(reply_with_key) as stub:
        run = use_api(manager, heard, stub)
        assert stub.keys == {f"Bearer {KEY}"}
        heard += [page.content.decode() for page in look_at_pages(requester, run)]
    heard += ["".join(map(bytes.decode, file_of(run, name))) for name in TEXT_FORMATS]
    heard += list(reports.dump_text(run))
    said = "\n".join(heard) + caplog.text + stored_text()
    encrypted = ModelServer.objects.get().key_encrypted
    assert model_workers.api_keys.HIDDEN in said  # the server did repeat it
    assert KEY not in said
    assert json.dumps(KEY)[1:-1] not in said
    assert encrypted not in said.replace(repr(encrypted), "")
    assert encrypted not in repr(list(AuditEntry.objects.values()))


TEXT_FORMATS = [one.name for one in exports.FORMATS.values() if one.ending != "xlsx"]


def file_of(run: Run, name: str) -> list[bytes]:
    try:
        return list(exports.make_file(run, name, pay="1").pieces)
    except Exception as refusal:
        return [str(refusal).encode()]


def look_at_pages(requester: Client, run: Run) -> list[Any]:
    worker, server = run.pool.workers.get(key="m1"), ModelServer.objects.get()
    pages = [
        admin_url("run_page", run.pk),
        admin_url("run_calls", run.pk),
        admin_url("pool_change", run.pool_id),
        admin_url("pool_models", run.pool_id),
        admin_url("worker_change", worker.pk),
        admin_url("worker_model", worker.pk),
        admin_url("modelserver_changelist"),
        admin_url("modelserver_change", server.pk),
        admin_url("modelserver_history", server.pk),
        admin_url("modelserver_models", server.pk),
        admin_url("auditentry_changelist"),
    ]
    found = [requester.get(page) for page in pages]
    assert {page.status_code for page in found} == {200}
    return found


def test_a_failure_in_the_middle_of_a_call_does_not_tell_the_key(manager, heard, caplog):
    manager.client.raise_request_exception = False
    with ModelStub(reply_with_key) as stub, pytest.MonkeyPatch.context() as patch:

        def fail(outcomes: Any) -> None:
            raise RuntimeError("The disk is full.")

        patch.setattr(ledger, "close_calls", fail)
        manager.post("model-servers", {"name": "S", "url": stub.url, "key": KEY})
        pool, questions = make_pool(2), make_questions(2)
        entry = {"model": "m1", "server": "S"}
        manager.post(f"pools/{pool.pk}/models", {"models": [entry]})
        body = {"worker": "m1", "question_set": questions.pk}
        job = finish_job(manager.post(f"pools/{pool.pk}/test-calls", body))
        failed = manager.get(f"jobs/{job.pk}")
    assert (job.state, job.status) == ("failed", 500)
    assert "The disk is full." in caplog.text
    assert KEY not in failed.content.decode() + caplog.text + stored_text()
