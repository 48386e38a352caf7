"""What a run in progress has called stays as it is, by page, API and file."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from selection.errors import Conflict, Refused
from selection.model_workers import changes, endpoints
from selection.model_workers.model_files import ModelFile
from selection.models import ApiToken, Endpoint, ModelCall, ModelServer, Run
from selection.runs import lifecycle
from selection.runs.roster import membership
from tests.pages import admin_url, text_of
from tests.selection.api.conftest import Program

from .conftest import make_model_run

pytestmark = pytest.mark.django_db

URL, OTHER = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"
MOVED = f"address is {URL} and would be {OTHER}"


@pytest.fixture
def run() -> Run:
    return make_model_run(URL, endpoint={"price_call": Decimal("0.01")})


@pytest.fixture
def called(run: Run) -> Endpoint:
    """A model that the run has called."""
    endpoint = Endpoint.objects.select_related("server", "worker__pool").get(model="m0")
    store_call(run, endpoint, ModelCall.State.REPLIED)
    return endpoint


def store_call(run: Run, endpoint: Endpoint, state: ModelCall.State) -> None:
    now = timezone.now()
    question = run.question_set.questions.first()
    where = {"run": run, "worker": endpoint.worker, "question": question}
    ModelCall.objects.create(**where, digest="d", state=state, sent=now, expires=now)


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        ({"model": "other"}, "model is m0 and would be other"),
        ({"price_call": 0.5}, "price call is 0.010000 and would be 0.5"),
        ({"temperature": 1}, "temperature is 0.0 and would be 1"),
        ({"system_prompt": "Be brief."}, "system prompt is empty and would be Be brief."),
    ],
)
def test_a_change_of_a_model_in_a_run_is_refused_with_the_difference(
    called: Endpoint, run: Run, values: dict[str, Any], difference: str
) -> None:
    with pytest.raises(Conflict, match=f"“{run}” is in progress and has called “w0”.*{difference}"):
        changes.change_endpoint(called, values)
    lifecycle.pause_run(run)
    with pytest.raises(Conflict):
        changes.change_endpoint(called, values)
    lifecycle.stop_run(run)
    changes.change_endpoint(called, values)


def test_models_not_called_and_the_pace_may_change(called: Endpoint, run: Run) -> None:
    changes.change_endpoint(called, {"timeout": 9, "parsing": "letter", "unreadable": "retry"})
    endpoints.save_server(called.server, {"concurrency": 3, "name": "renamed"})
    other = Endpoint.objects.select_related("server", "worker__pool").get(model="m1")
    store_call(run, other, ModelCall.State.FAILED)
    changes.change_endpoint(other, {"model": "mended"})
    changes.change_endpoint(called, {"price_call": "0.01", "temperature": 0})
    membership.withdraw_workers(run, ["w0"])
    changes.change_endpoint(called, {"model": "another"})


def test_a_server_that_a_run_has_called_keeps_its_address(called: Endpoint) -> None:
    for values in ({"url": OTHER}, {"extra_query": {"v": "2"}}):
        server = ModelServer.objects.get()
        with pytest.raises(Conflict, match="would be"):
            endpoints.save_server(server, values)
    assert ModelServer.objects.get().url == URL


def test_another_file_with_the_same_name_redirects_nothing(called: Endpoint, run: Run) -> None:
    name = ModelServer.objects.get().name
    text = f"servers: {{'{name}': {{url: '{OTHER}'}}}}\nmodels: [{{server: '{name}', model: x}}]"
    with pytest.raises(Refused, match=f"Line 1, column 11: .*{MOVED}"):
        changes.store_file(run.pool, ModelFile(text))
    text = f"models: [{{server: '{name}', name: w0, model: x}}]"
    with pytest.raises(Conflict, match="model is m0 and would be x"):
        changes.store_file(run.pool, ModelFile(text))
    assert not run.pool.workers.filter(key="x").exists()
    assert ModelServer.objects.get().url == URL


def test_api_and_page_show_the_difference(called: Endpoint, run: Run, requester: Client) -> None:
    program, server = Program(ApiToken.issue("manager")), ModelServer.objects.get()
    reply = program.patch(f"model-servers/{server.pk}", {"url": OTHER})
    assert (reply.status_code, MOVED in reply.json()["error"]) == (409, True)
    reply = program.patch(f"pools/{run.pool_id}/models/w0", {"model": "other"})
    assert (reply.status_code, "m0 and would be other" in reply.json()["error"]) == (409, True)
    form = {"name": server.name, "url": OTHER, "concurrency": 8}
    form |= {"extra_headers": json.dumps({}), "extra_query": json.dumps({})}
    page = requester.post(admin_url("modelserver_change", server.pk), form)
    assert MOVED in text_of(page)
