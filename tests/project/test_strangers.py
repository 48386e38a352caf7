"""The cost of a stranger's request: every address, without a login, a token or a link."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from selection.api import api
from selection.api.base import Api
from tests.rate_limits import begin_window
from tests.selection.accounts.access.test_every_address import routes

pytestmark = pytest.mark.django_db

MOST_QUERIES = 2
CONVERTER = re.compile(r"<[^>]*>|\(\?P<\w+>[^)]*\)")


ADDRESSES = sorted({f"/{CONVERTER.sub('1', one)}" for one in routes(get_resolver().url_patterns)})


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the API's document is built nor a password hashed."""
    assert api.document  # by the first request

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A stranger's request did expensive work.")

    monkeypatch.setattr(Api, "get_openapi_schema", refuse)
    monkeypatch.setattr(User, "set_password", refuse)
    monkeypatch.setattr(User, "check_password", refuse)


@pytest.mark.any_database
def test_no_address_makes_a_stranger_costly(no_work: None) -> None:
    client, costly = Client(), {}
    for address in ADDRESSES:
        address = address.replace("^", "").replace("$", "").replace("\\", "")
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        if len(queries) > MOST_QUERIES:
            costly[address] = [one["sql"] for one in queries]
    assert costly == {}
    assert len(ADDRESSES) > 150


@pytest.mark.any_database
def test_the_apis_document_is_built_once_and_sent_as_it_is(no_work: None) -> None:
    first, again = (Client().get("/api/openapi.json") for _ in range(2))
    assert first.status_code == 200
    assert first.content == again.content
    assert first.json()["info"]["title"] == "CrowdSelect"
    same = Client().get("/api/openapi.json", headers={"if-none-match": first.headers["ETag"]})
    assert (same.status_code, same.content) == (304, b"")


@pytest.mark.any_database
def test_login_attempts_with_many_names_from_one_address_are_limited(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LINK_FAILURES_PER_MINUTE = 3
    begin_window(monkeypatch)
    here = Client(REMOTE_ADDR="192.0.2.7")
    told = [
        here.post("/admin/login/", {"username": f"name {one}", "password": "x"}).status_code
        for one in range(5)
    ]
    assert 429 in told[3:]
    elsewhere = Client(REMOTE_ADDR="192.0.2.8")
    assert elsewhere.post("/admin/login/", {"username": "a", "password": "x"}).status_code == 200
