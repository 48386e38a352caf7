"""`make run`: addresses that open for any host, and folders of any name."""

import io
import os
import re
import shlex
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from crowdselect.start import greeting
from selection.management.commands import launch
from tests.processes import free_port
from tests.worlds import make_run

pytestmark = pytest.mark.django_db
SET = (
    "ADDRESS",
    "HERE",
    "ALLOWED_HOSTS",
    "SAMPLE_RUN",
    "SAMPLE_GOLD",
    "CROWD_TOKEN",
    "PUBLIC_URL",
    "GREETING",
)
supervise = launch.start_supervisor


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The output instead of a start, and the port."""
    for name in SET:
        monkeypatch.setenv(name, "")  # put back afterwards
    monkeypatch.delenv("PUBLIC_URL")
    run = make_run()
    monkeypatch.setattr(launch.sample_run, "prepare_sample_run", lambda path: run)
    monkeypatch.setattr(launch.sample_watch, "prepare_sample_watch", lambda *_: None)
    monkeypatch.setattr(launch, "start_supervisor", lambda: None)
    monkeypatch.setattr(launch, "LOGIN", tmp_path / "first-login")
    monkeypatch.setattr(launch, "call_command", lambda *given, **more: None)  # migrate

    def start(host: str) -> tuple[str, int]:
        if ":" in host:  # not every machine that tests has IPv6
            monkeypatch.setattr(launch, "refuse_taken", lambda host, port: None)
        out, port = io.StringIO(), free_port()
        call_command("launch", host=host, port=port, stdout=out)
        assert "http://" not in out.getvalue()  # the pages do not answer yet
        return os.environ["GREETING"], port

    return start


@pytest.mark.parametrize(
    ("host", "own", "opened"),
    [
        ("127.0.0.1", "192.0.2.7", ["127.0.0.1"]),
        ("localhost", "192.0.2.7", ["localhost"]),
        ("0.0.0.0", "192.0.2.7", ["127.0.0.1", "192.0.2.7"]),
        ("0.0.0.0", "", ["127.0.0.1"]),
        ("::1", "", ["[::1]"]),
        ("::", "2001:db8::7", ["[::1]", "[2001:db8::7]"]),
    ],
)
def test_the_addresses_that_it_prints_open(started, monkeypatch, settings, host, own, opened):
    monkeypatch.setattr(launch, "outward_address", lambda elsewhere: own)
    said, port = started(host)
    found = re.findall(r"http://(\S+)/admin/\s", said)
    assert found == [f"{name}:{port}" for name in opened]
    settings.ALLOWED_HOSTS = os.environ["ALLOWED_HOSTS"].split(",")
    for name in found:
        assert Client(headers={"host": name}).get("/admin/login/").status_code == 200
    assert os.environ["ADDRESS"] == f"{host}:{port}"
    assert os.environ["HERE"] == f"http://{opened[0]}:{port}"
    assert os.environ["PUBLIC_URL"] == f"http://{opened[-1]}:{port}"


def test_outward_address_is_not_a_local_one():
    assert not launch.outward_address("192.0.2.1").startswith(("127.", "0."))


@pytest.mark.parametrize(
    "folder", ["/plain", "/two words", "/it's Größe/x", "/100 %s", '/a "b" c', "/a\\b;c", "/$HOME"]
)
def test_a_folder_may_have_any_name(monkeypatch, settings, started, folder):
    """As supervisord reads it: names of the environment put in, then split like a shell's line."""
    for name in ("PYTHON", "VAR_DIR", "RUN_AS", "EMBEDDED_REDIS", "TELL"):
        monkeypatch.setenv(name, "")  # put back afterwards
    settings.VAR_DIR = Path(f"{folder}/var")
    monkeypatch.setattr(sys, "executable", f"{folder}/python")
    monkeypatch.setattr(os, "execv", lambda path, words: None)
    monkeypatch.setattr(launch, "start_supervisor", supervise)
    started("127.0.0.1")
    known = RawConfigParser(delimiters="=", comment_prefixes=";")
    known.read(settings.SUPERVISOR[-1])
    given = {f"ENV_{name}": value for name, value in os.environ.items()}
    programs = [name for name in known.sections() if name.startswith("program:")]
    commands = {name: shlex.split(known[name]["command"] % given) for name in programs}
    assert all(f"{folder}/python" in words for words in commands.values())
    assert commands["program:crowd"][-1] == f"{folder}/var/sample-gold.csv"


def test_make_run_uses_no_script_with_the_folder_in_its_first_line(settings):
    """Where that has both a blank and a quote in it, pip's own script finds no Python."""
    command = ["make", "--dry-run", "--always-make", "run"]
    said = subprocess.run(
        command, cwd=settings.BASE_DIR, check=True, capture_output=True, text=True
    )
    assert set(re.findall(r"\.venv/bin/(\S+)", said.stdout)) == {"python"}


def test_the_greeting_waits_until_a_page_answers(live_server, monkeypatch, capsys):
    waits: list[float] = []

    def let_it_answer(seconds: float) -> None:
        waits.append(seconds)
        monkeypatch.setenv("HERE", live_server.url)

    monkeypatch.setenv("HERE", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("GREETING", "the address")
    monkeypatch.setattr(greeting.time, "sleep", let_it_answer)
    greeting.main([])
    assert capsys.readouterr().out == "the address\n"
    assert len(waits) == 1


def test_other_process_starts_after_the_page_or_after_a_while(live_server, monkeypatch):
    commands: list[list[str]] = []
    waits: list[float] = []
    monkeypatch.setattr(os, "execvp", lambda program, words: commands.append(words))
    monkeypatch.setattr(greeting.time, "sleep", waits.append)
    monkeypatch.setenv("GREETING", "")
    for url in (live_server.url, f"http://127.0.0.1:{free_port()}"):
        monkeypatch.setenv("HERE", url)
        greeting.main(["nice", "celery"])
    assert commands == [["nice", "celery"]] * 2
    assert len(waits) == greeting.PAUSES


def test_page_finds_static_files_that_were_not_collected(settings, tmp_path):
    settings.WHITENOISE_USE_FINDERS, settings.STATIC_ROOT = True, tmp_path
    client = Client()
    for name in ("selection/pages.js", "admin/js/core.js"):
        assert client.get(f"/static/{name}").status_code == 200
