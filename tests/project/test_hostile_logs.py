"""A hostile request costs one line of the log at most."""

import logging
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from crowdselect.web.logs import HostileInOneLine
from tests.processes import answers, database_url, free_port, wait_until

HOST = b"Host: 127.0.0.1\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
PARTS = b"Content-Type: multipart/form-data; boundary=x\r\n"
LOGIN = b"POST /admin/login/ HTTP/1.1\r\n" + HOST


def sent(head: bytes, body: bytes) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


REQUESTS = {
    "foreign host": b"GET /admin/login/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "foreign host of the API": b"GET /api/docs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "no host at all": b"GET / HTTP/1.0\r\nHost: \r\n\r\n",
    "host that is none": b"GET /admin/login HTTP/1.1\r\nHost: a b\x01\xff:99999999\r\n\r\n",
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no method": b" / HTTP/1.1\r\n" + HOST + b"\r\n",
    "no version": b"GET /\x00\xff\r\n\r\n",
    "header without a name": b"GET / HTTP/1.1\r\n" + HOST + b": x\r\nno colon\r\n\r\n",
    "length that is none": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n",
    "encoding that is none": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: x\r\n\r\n",
    "chunk that is none": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "huge headers": b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"x" * 300_000 + b"\r\n\r\n",
    "NUL in the address": b"GET /admin/\x00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "line in the address": b"GET /%0ATraceback%0D%0Aline HTTP/1.1\r\n" + HOST + b"\r\n",
    "address that is no text": b"GET /\xff\xfe%FF?\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "more fields than there are": sent(LOGIN + FORM, b"&".join(b"a=1" for _ in range(3000))),
    "larger than is taken": sent(LOGIN + FORM, b"x" * 1_500_000),
    "no boundary": sent(LOGIN + b"Content-Type: multipart/form-data\r\n", b"x"),
    "parts that are none": sent(LOGIN + PARTS, b"--x\r\nContent-Disposition: form-data\r\n"),
    "many files": sent(
        LOGIN + PARTS,
        b"".join(
            b'--x\r\nContent-Disposition: form-data; name="a"; filename="%d"\r\n\r\n\r\n' % number
            for number in range(500)
        )
        + b"--x--\r\n",
    ),
    "base64 that is none": sent(
        LOGIN + PARTS,
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n--x--\r\n",
    ),
    "text that is none": sent(LOGIN + FORM, b"username=%FF%00&\xff\x00"),
    "characters that are none": sent(LOGIN + b"Content-Type: text/plain; charset=no\r\n", b"\xff"),
    "no JSON": sent(
        b"POST /api/answers HTTP/1.1\r\nContent-Type: application/json\r\n" + HOST, b"\xff{"
    ),
    "cookies": b"GET /admin/login/ HTTP/1.1\r\n" + HOST + b"Cookie: sessionid=\xff\x01; =;\r\n\r\n",
    "method that is none": b"BREW /admin/login/ HTTP/1.1\r\n" + HOST + b"\r\n",
}


def send(port: int, request: bytes) -> None:
    """Send it, and read until the server says something or closes."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.settimeout(5)
        wire.sendall(request)
        wire.shutdown(socket.SHUT_WR)
        while wire.recv(1 << 16):
            pass


@pytest.mark.django_db(transaction=True)
@pytest.mark.any_database
def test_a_hostile_request_costs_one_line_at_most(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    own = {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "crowdselect.settings"}
    command = [sys.executable, "-m", "crowdselect.start.web_server", f"127.0.0.1:{port}"]
    with log.open("wb") as said:
        server = subprocess.Popen(
            [*command, "--processes", "1"],
            env=os.environ | own,
            cwd=settings.BASE_DIR,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: answers(port), "the web server")
        send(port, b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        for name, request in REQUESTS.items():
            before = log.read_text()
            send(port, request)
            new = log.read_text().removeprefix(before).splitlines()
            assert len(new) <= 1, f"{name}: {new}"
    finally:
        server.terminate()
        server.wait()
    assert "Invalid HTTP_HOST header: 'evil.example'" in log.read_text()


@pytest.mark.parametrize(
    "error",
    [
        BadRequest("a\nb"),
        Http404("a\nb"),
        MultiPartParserError("a\nb"),
        PermissionDenied("a\nb"),
        SuspiciousOperation("a\nb"),
        UnreadablePostError("a\nb"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_of_a_hostile_request_is_logged_without_a_traceback(error: Exception) -> None:
    about = (type(error), error, None)
    record = logging.LogRecord("django", logging.ERROR, "", 0, "%s", (str(error),), about)
    assert HostileInOneLine().filter(record)
    line = logging.Formatter().format(record)
    assert line == f"{type(error).__name__}: a\\nb"


def test_an_error_of_ours_keeps_its_traceback() -> None:
    about = (KeyError, KeyError("ours"), None)
    record = logging.LogRecord("django", logging.ERROR, "", 0, "%s", ("x",), about)
    HostileInOneLine().filter(record)
    assert "KeyError: 'ours'" in logging.Formatter().format(record)
