"""Errors of the API, which all have the same form."""

from collections import Counter
from importlib import import_module
from pkgutil import walk_packages

import pytest
from django.db import IntegrityError
from django.test import Client
from ninja import Schema

import selection.api as room
from selection.api import api
from selection.runs import deletion
from tests.rate_limits import begin_window
from tests.worlds import make_pool

pytestmark = pytest.mark.django_db


def told(reply, status: int) -> str:
    assert reply.status_code == status
    assert reply.headers["Content-Type"].startswith("application/json")
    document = reply.json()
    assert set(document) <= {"error", "field"}
    assert "\n" not in document["error"]
    return document["error"]


@pytest.mark.parametrize("path", ["nothing", "runs/1/nothing", "pools/", ""])
def test_unknown_address_answers_not_found(manager, path):
    assert "Not found" in told(manager.get(path), 404)


@pytest.mark.parametrize("debug", [True, False])
def test_unknown_address_answers_alike_while_debugging(manager, settings, debug):
    settings.DEBUG = debug
    told(manager.get("nothing"), 404)


def test_impossible_method_is_refused_with_the_possible_ones(manager):
    reply = manager.put("pools", {})
    assert told(reply, 405) == "PUT is not possible here; GET or POST is."
    assert set(reply.headers["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "image/png"])
def test_a_body_of_another_kind_is_refused(manager, kind):
    reply = manager.client.post("/api/pools", '{"name": "Spring"}', kind)
    assert told(reply, 415) == (
        f"The body is {kind}; send JSON, and the header Content-Type: application/json."
    )


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/ld+json", ""])
def test_body_with_a_json_or_no_content_type_is_read(manager, kind):
    sent = manager.client.generic("POST", "/api/pools", '{"name": "Spring"}', kind)
    assert sent.status_code == 201


def test_json_that_is_cut_off_is_said_to_be_so(manager):
    assert told(manager.client.post("/api/pools", "{", "application/json"), 400)


def test_a_field_that_is_wrong_is_named(manager):
    at = f"/api/pools/{make_pool(1).pk}/workers"
    reply = manager.client.put(at, {"workers": [{"worker": "a"}, {}]}, "application/json")
    assert "workers.1.worker is missing." in told(reply, 422)
    assert reply.json()["field"] == "workers.1.worker"


def test_missing_token_is_answered_with_how_to_send_one():
    reply = Client().get("/api/pools")
    assert "Authorization: Bearer" in told(reply, 401)
    assert reply.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("worker", ["a%0Ab", "%0A", "a%2Fb"])
def test_an_id_with_any_character_finds_its_address(worker):
    assert "token" in told(Client().get(f"/api/workers/{worker}/data"), 401)


def test_client_over_its_limit_is_told_how_long_to_wait(manager, settings, monkeypatch):
    begin_window(monkeypatch)
    settings.API_REQUESTS_PER_MINUTE = 1
    reply = [manager.get("pools") for _ in range(4)][-1]
    assert "wait a minute" in told(reply, 429)
    assert 1 <= int(reply.headers["Retry-After"]) <= 60


def test_too_much_is_too_much(manager):
    path = "/api/pools"
    reply = manager.client.post(path, "{}", "application/json", CONTENT_LENGTH=str(10**9))
    assert "more than this server takes" in told(reply, 413)


def test_name_taken_at_this_moment_is_a_conflict(manager, monkeypatch):
    def taken(item):
        raise IntegrityError("UNIQUE constraint failed")

    monkeypatch.setattr(deletion, "store_item", taken)
    assert "send the request again" in told(manager.post("pools", {"name": "Spring"}), 409)


def test_a_failure_of_the_server_is_told_in_the_same_form(manager, monkeypatch):
    def fail(item):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(deletion, "store_item", fail)
    manager.client.raise_request_exception = False
    assert "secret" not in told(manager.post("pools", {"name": "Spring"}), 500)


def test_operations_declare_their_errors_and_the_error_schema():
    document = api.get_openapi_schema()
    form = {"$ref": "#/components/schemas/ErrorOut"}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status in (400, 401, 403, 404, 409, 413, 415, 422, 429, 503):
                content = operation["responses"][status]["content"]["application/json"]
                assert content["schema"] == form, (method, path)


def test_fields_of_the_api_have_a_type():
    """Check all fields except algorithms' options, attributes, and bodies of planned calls."""
    open_ones = []

    def look(schema, where):
        if isinstance(schema, dict):
            if "properties" in schema:
                for name, field in schema["properties"].items():
                    kinds = {"type", "$ref", "anyOf", "allOf", "enum", "const"} & set(field)
                    anything = field.get("additionalProperties") is True
                    if not kinds or anything or field.get("items") == {}:
                        open_ones.append(f"{where}.{name}")
            for name, part in schema.items():
                look(part, f"{where}.{name}" if name != "properties" else where)

    for name, schema in api.get_openapi_schema()["components"]["schemas"].items():
        look(schema, name)
    assert sorted(open_ones) == [
        "EndpointOut.extra_body",
        "JobOut.result",
        "PlannedCallOut.body",
        "PointOut.options",
        "PoolWorkerOut.attributes",
        "RowOut.options",
        "SelectionOut.options",
    ]


def test_no_two_forms_have_one_name():
    """Check the names: in the document a second schema of a name would replace the first."""
    found = walk_packages(room.__path__, "selection.api.")
    modules = (import_module(one.name) for one in found)
    forms = {
        form
        for module in modules
        for form in vars(module).values()
        if isinstance(form, type) and issubclass(form, Schema)
    }
    names = Counter(form.__name__ for form in forms)
    assert [name for name, count in names.items() if count > 1] == []
