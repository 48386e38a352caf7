"""API keys: stored encrypted, taken from the environment only as allowed, never repeated."""

from typing import Any

import pytest

from selection import engine
from selection.errors import Conflict
from selection.model_workers import api_keys, dispatcher, endpoints
from selection.model_workers.call_pool import CallPool
from selection.model_workers.endpoints import FieldRefused
from selection.models import Endpoint, ModelCall, ModelServer
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import make_model_run

pytestmark = pytest.mark.django_db
KEY = "sk-planted-1234567890"
URL = "https://api.example.com/v1"


def test_store_a_key_encrypted() -> None:
    server = ModelServer()
    endpoints.save_server(server, {"name": "far", "url": URL}, KEY)
    server.refresh_from_db()
    assert KEY not in server.key_encrypted
    assert api_keys.read_key(server) == KEY
    endpoints.save_server(server, {"concurrency": 3})
    assert api_keys.read_key(server) == KEY
    endpoints.save_server(server, {}, "")
    assert api_keys.read_key(server) == ""


def test_a_key_survives_a_new_secret_key_as_a_fallback(settings: Any) -> None:
    server = ModelServer()
    endpoints.save_server(server, {"name": "far", "url": URL}, KEY)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "x" * 60, [settings.SECRET_KEY]
    assert api_keys.read_key(server) == KEY
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(Exception, match="enter it again"):
        api_keys.read_key(server)


def test_use_variables_only_for_their_address(settings: Any, monkeypatch: Any) -> None:
    settings.MODEL_KEYS = {"FAR_KEY": "https://api.example.com/"}
    monkeypatch.setenv("FAR_KEY", KEY)
    server = ModelServer()
    endpoints.save_server(server, {"name": "far", "url": URL, "key_variable": "FAR_KEY"})
    assert api_keys.read_key(server) == KEY
    with pytest.raises(FieldRefused, match="begin with"):
        endpoints.save_server(server, {"url": "https://evil.example.org/v1"})
    with pytest.raises(FieldRefused, match="MODEL_KEYS"):
        endpoints.save_server(server, {"url": URL, "key_variable": "SECRET_KEY"})


def test_refuse_a_second_server_of_the_name() -> None:
    endpoints.save_server(ModelServer(), {"name": "far", "url": URL})
    with pytest.raises(Conflict, match="already"):
        endpoints.save_server(ModelServer(), {"name": "far", "url": URL})


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "https://127.0.0.1/v1"])
def test_refuse_addresses_inside_unless_allowed(settings: Any, url: str) -> None:
    settings.MODELS_INSIDE = False
    with pytest.raises(FieldRefused, match="MODELS_INSIDE"):
        endpoints.save_server(ModelServer(), {"name": "near", "url": url})


def test_a_name_that_leads_inside_is_not_called(settings: Any) -> None:
    settings.MODELS_INSIDE = False
    run = make_model_run("https://localtest.invalid/v1")
    ModelServer.objects.update(url="https://localhost:1/v1")
    turn(run.pk)
    assert "MODELS_INSIDE" in Endpoint.objects.exclude(problem="")[0].problem


def test_a_server_that_repeats_the_key_does_not_reveal_it(caplog: Any) -> None:
    with ModelStub(lambda model, text: f"Your key is {KEY}") as stub:
        run = make_model_run(stub.url)
        server = ModelServer.objects.get()
        endpoints.save_server(server, {}, KEY)
        turn(run.pk)
        stub.status, stub.error = 500, f"bad key {KEY}"
        turn(run.pk)
        assert stub.keys == {f"Bearer {KEY}"}
    stored = [str(list(model.objects.values())) for model in (ModelCall, Endpoint, ModelServer)]
    assert ModelCall.objects.filter(reply__contains=api_keys.HIDDEN).exists()
    assert ModelCall.objects.filter(problem__contains=api_keys.HIDDEN).exists()
    assert KEY not in "".join(stored)
    assert KEY not in caplog.text


def turn(run: int) -> None:
    engine.advance(run)
    with CallPool() as pool:
        calls = dispatcher.Dispatcher(pool)
        for _ in range(5):
            calls.take_turn(0.1)
        calls.finish()
