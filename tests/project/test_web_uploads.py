"""Uploads: nothing above its limit is read, and half a request holds no other up."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.models import Upload
from tests.pages import admin_url
from tests.processes import answers, free_port, wait_until
from tests.worlds import make_pool

MEGABYTE = 1024 * 1024
HALF_SENT = 8
PATIENCE = 60

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


# -- limits


class Unread:
    """A body of which not a byte may be asked for."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


def status_of(client, path: str, size: int, **headers: str) -> int:
    """The status of a posted form of so many bytes; reading its body would fail."""
    answer = client.generic(
        "POST",
        path,
        content_type="multipart/form-data; boundary=x",
        **{"wsgi.input": Unread(), "CONTENT_LENGTH": str(size), **headers},
    )
    return answer.status_code


@pytest.mark.parametrize("path", ["/admin/login/", "/work/x/", "/join/x/", "/admin/", "/nowhere/"])
def test_anonymous_client_sends_less_than_a_megabyte(client, path):
    client.cookies["sessionid"] = "invented" * 4
    assert status_of(client, path, MEGABYTE + 1) == 413
    assert status_of(client, path, 300 * MEGABYTE) == 413


def test_signed_in_client_sends_files_up_to_the_limit(requester):
    address = admin_url("pool_import", make_pool(1).pk)
    assert status_of(requester, address, settings.MOST_UPLOADED + 1) == 413
    rows = "worker\n" + "".join(f"worker number {i} of many\n" for i in range(120_000))
    file = SimpleUploadedFile("many.csv", rows.encode())
    assert len(rows) > 2.5 * MEGABYTE
    assert requester.post(address, {"file": file}).status_code == 302
    assert bytes(Upload.objects.get().content).decode() == rows


def test_the_api_says_that_a_body_is_too_large(client, token):
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert status_of(client, "/api/runs/1/answers", most + 1, **headers) == 413


def test_the_api_looks_at_the_token_before_it_reads(client):
    assert status_of(client, "/api/runs/1/answers", MEGABYTE) == 401


@pytest.mark.parametrize("said", ["-1", "x", "9" * 400, "1e3"])
def test_invalid_content_length_is_refused(client, said):
    assert status_of(client, "/admin/login/", said) == 413


def test_files_never_lie_on_the_disk(requester, tmp_path, monkeypatch):
    """Where nothing can be written for a while, they come in all the same."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    file = SimpleUploadedFile("some.csv", b"worker\n" + b"somebody else\n" * 400_000)
    address = admin_url("pool_import", make_pool(1).pk)
    assert requester.post(address, {"file": file}).status_code == 302


# -- half a request


@contextmanager
def serving(folder: Path, processes: int = 1, **environment: str) -> Iterator[tuple[int, int]]:
    """The web server as `make run` starts it, in one process; gives its port and process id."""
    port = free_port()
    own = {
        "DATABASE_URL": f"sqlite:///{folder / 'web.sqlite3'}",
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
        "TMPDIR": str(folder),
    }
    command = [sys.executable, "-m", "crowdselect.start.web_server", f"127.0.0.1:{port}"]
    running = subprocess.Popen(
        [*command, "--processes", str(processes)], env=os.environ | own | environment
    )
    try:
        wait_until(lambda: answers(port), "the web server")
        yield port, running.pid
    finally:
        running.terminate()
        assert running.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("web")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[int, int]]:
    with serving(folder) as found:
        yield found


def sent(port: int, raw: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
    connection.sendall(raw)
    return connection


HEADERS = b"POST /work/x/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"


HALVES = {
    "a letter": b"P",
    "headers": HEADERS,
    "half a body": HEADERS + b"\r\nresponse=",
    "half a chunk": HEADERS[:-22] + b"Transfer-Encoding: chunked\r\n\r\n5",
}


def asked(port: int, path: str = "/work/x/", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers={"Host": "localhost"} | named)
    return connection.getresponse()


@pytest.mark.parametrize("half", HALVES)
def test_a_whole_request_is_answered_beside_eight_half_sent_ones(server, half):
    port, _ = server
    half_sent = [sent(port, HALVES[half]) for _ in range(HALF_SENT)]
    assert asked(port).status == 404
    for one in half_sent:
        one.close()


def test_a_body_above_the_limit_is_refused_before_it_comes(server, folder):
    length = str(300 * MEGABYTE).encode()
    head = b"POST /admin/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length
    connection = sent(server[0], head + b"\r\n\r\n.")
    assert connection.recv(100).startswith(b"HTTP/1.1 413")
    connection.close()
    assert [path.name for path in folder.iterdir() if "sqlite" not in path.name] == []


def test_a_web_process_that_dies_is_replaced(folder):
    with serving(folder, processes=2) as (port, parent):
        children = Path(f"/proc/{parent}/task/{parent}/children")
        first = children.read_text().split()
        for child in first:
            os.kill(int(child), signal.SIGKILL)
        wait_until(lambda: len({*children.read_text().split()} - {*first}) == 2, "new processes")
        assert asked(port).status == 404


# -- trusted senders


def test_only_a_trusted_proxy_declares_https(folder):
    known = {"PUBLIC_URL": "https://localhost"}
    with serving(folder, **known, TRUSTED_PROXIES="127.0.0.1") as (port, _):
        behind = asked(port, X_Forwarded_Proto="https")
        assert behind.status == 404
        assert behind.headers["Strict-Transport-Security"]
        plain = asked(port)
        assert plain.status == 301
        assert plain.headers["Location"].startswith("https://")
    with serving(folder, PUBLIC_URL="http://localhost") as (port, _):
        assert "Strict-Transport-Security" not in asked(port, X_Forwarded_Proto="https").headers
