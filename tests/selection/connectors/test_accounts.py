"""Accounts: their secrets, settings and unexpected replies."""

from datetime import timedelta

import pytest

from selection import connectors, db_clock, engine
from selection.connectors import secret_store
from selection.connectors.faults import Fault
from selection.connectors.platforms.label_studio import client as studio_client
from selection.connectors.platforms.label_studio.client import Client
from selection.connectors.platforms.prolific import session as prolific_session
from selection.errors import Refused
from selection.models import Connection, ConnectorCall
from tests.connector_stub import Stub, make_connection
from tests.prolific_world import SETTINGS
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(stub):
    run = make_run()
    engine.advance(run.pk)
    return connectors.connect_run(run, make_connection())


def exchange(link):
    Connection.objects.update(rests_until=db_clock.database_now() - timedelta(seconds=1))
    connectors.exchange(link.connection_id)
    link.refresh_from_db()
    link.connection.refresh_from_db()


def send_with_token(self, link, tasks):
    secret_store.require_token(link.connection)
    return Stub.send_assignments(self, link, tasks)


def test_a_changed_secret_key_is_told_and_loses_no_call(link, stub, settings, monkeypatch):
    monkeypatch.setattr(
        type(stub), "poll", lambda self, link: secret_store.require_token(link.connection) and ()
    )
    monkeypatch.setattr(stub, "send_assignments", send_with_token.__get__(stub))
    settings.SECRET_KEY = "another"
    exchange(link)
    assert "SECRET_KEY" in link.connection.problem
    assert ConnectorCall.objects.pending().exists()
    connectors.save_connection(link.connection, name="Ours", address="", secrets={"token": "anew"})
    exchange(link)
    assert set(stub.there) == {one.pk for one in open_of(link.run)}


def test_an_error_that_repeats_a_secret_is_cleaned_of_it(stub):
    connection = make_connection()
    text = f"token secret-token, header {connection.secret}"
    assert secret_store.hide_secrets(connection, text) == "token [token], header [token]"


@pytest.mark.parametrize("value", ["false", "no", 2])
def test_a_yes_or_no_is_not_guessed(prolific_run, lab, value):
    with pytest.raises(connectors.FieldRefused, match="true or false"):
        connectors.connect_run(prolific_run, lab, SETTINGS | {"approve": value})


@pytest.mark.parametrize("value", [True, 1.5, float("inf"), "1.5"])
def test_a_number_is_whole(prolific_run, lab, value):
    with pytest.raises(connectors.FieldRefused, match="whole number"):
        connectors.connect_run(prolific_run, lab, SETTINGS | {"reward": value})


@pytest.mark.parametrize("reply", [[], {}, {"results": 3}, None])
def test_a_reply_of_another_program_is_told(settings, monkeypatch, reply):
    settings.CONNECTORS_INSIDE = True
    monkeypatch.setattr("selection.connectors.http.call_json", lambda *args, **more: reply)
    monkeypatch.setattr(prolific_session, "call", lambda *args, **more: reply)
    for kind in ("prolific", "label_studio"):
        with pytest.raises(Refused, match="address"):
            connectors.create_connection(
                1,
                kind,
                "Lab",
                {"token": "x" * 20},
                "http://127.0.0.1:1",
                {} if kind == "label_studio" else {"workspace": "w"},
            )


# -- lists without an end


def test_a_list_of_tasks_without_an_end_is_given_up(monkeypatch):
    page = {"total": 10**12, "tasks": [{"id": 1}]}
    monkeypatch.setattr(Client, "call", lambda *args, **more: page)
    monkeypatch.setattr(studio_client, "MOST_PAGES", 3)
    with pytest.raises(Fault, match="1,500 tasks"):
        list(Client("http://x", "t").list_tasks("1"))


def test_an_empty_page_ends_a_list_of_tasks(monkeypatch):
    page = {"total": 10**12, "tasks": []}
    monkeypatch.setattr(Client, "call", lambda *args, **more: page)
    assert list(Client("http://x", "t").list_tasks("1")) == []


def test_a_list_of_prolific_without_an_end_is_given_up(monkeypatch):
    page = {"results": [{"id": "1"}] * 100, "_links": {"next": {"href": "again"}}}
    monkeypatch.setattr(prolific_session, "call", lambda *args, **more: page)
    monkeypatch.setattr(prolific_session, "MOST_PAGES", 3)

    class Link:
        connection = None

    with pytest.raises(Fault, match="300"):
        list(prolific_session.Session(Link()).list("participant-groups/"))
