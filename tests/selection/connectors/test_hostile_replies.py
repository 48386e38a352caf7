"""Replies and messages of a hostile tool: bounded, clean, and never an error of ours."""

import json
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from selection import connectors
from selection.connectors import http
from selection.connectors.faults import Outage, Rejected
from selection.connectors.platforms.label_studio.connector import HEADER
from selection.http import safe_http
from selection.models import Connection, default_team
from tests.label_studio_stub import LEGACY, LabelStudioStub

pytestmark = pytest.mark.django_db
DEEP = b"[" * 300_000


class Hostile(BaseHTTPRequestHandler):
    body = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)


@pytest.fixture
def address(settings) -> Iterator[str]:
    settings.CONNECTORS_INSIDE = True
    server = HTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("body", "fault", "words"),
    [
        (DEEP, Outage, "is not JSON"),
        (b"x" * (http.USUAL_REPLY + 1), Rejected, "longer than 4 MB"),
        (b"[" + b"0," * http.MOST_VALUES, Rejected, "more than"),
    ],
)
def test_a_hostile_reply_is_a_fault(address, body, fault, words):
    Hostile.body = body
    seconds = 10.0 if fault == Outage or len(body) > http.USUAL_REPLY + 1 else safe_http.SECONDS
    with pytest.raises(fault, match=words):
        http.call_json("GET", address, {}, seconds=seconds + (words == "more than"))


def test_no_more_of_a_reply_is_read_than_its_call_needs(address, monkeypatch):
    sizes, read = [], safe_http.HTTPConnection.response_class.read
    monkeypatch.setattr(
        safe_http.HTTPConnection.response_class,
        "read",
        lambda reply, size=None: sizes.append(size) or read(reply, size),
    )
    Hostile.body = b"{}"
    http.call_json("GET", address, {})
    http.call_json("GET", address, {}, seconds=60)
    assert sizes == [http.USUAL_REPLY + 1, http.LONGEST_REPLY + 1]


def test_texts_of_a_reply_are_storable(address):
    Hostile.body = json.dumps({"first_name": "A\ud800nn\0"}).encode()
    assert http.call_json("GET", address, {}) == {"first_name": "A\ufffdnn\ufffd"}


@pytest.mark.parametrize(
    "body", [DEEP, b'{"a":' * 100_000, b"\xff", b"[]", b"null", b'{"task": [1]}']
)
def test_a_hostile_message_is_refused_or_ignored(client, settings, body):
    settings.CONNECTORS_INSIDE = True
    with LabelStudioStub() as studio:
        secrets = {"token": LEGACY}
        team = default_team()
        connectors.create_connection(team, "label_studio", "Ours", secrets, studio.url)
    connection = Connection.objects.get()
    reply = client.post(
        f"/connectors/{connection.pk}/messages/",
        body,
        content_type="application/json",
        headers={HEADER: connection.secret},
    )
    assert reply.status_code in (200, 422)


def test_outage_waits_until_the_date_that_the_reply_names():
    headers = {"retry-after": formatdate(time.time() + 60, usegmt=True)}
    fault = http.fault_of(safe_http.Reply(503, "", headers))
    assert isinstance(fault, Outage)
    assert 30 < fault.retry_after <= 60
