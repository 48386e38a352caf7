"""Log lines for programs: an object each, with the ids of request, task, run and step."""

import json
import logging
import os
from types import SimpleNamespace

import pytest
from django.test import override_settings

from crowdselect.web import logs, tracing
from selection import tasks
from tests.worlds import make_run


@pytest.fixture
def lines():
    """Record the root logger's lines in JSON, from now on."""

    class Kept(logging.Handler):
        def __init__(self) -> None:
            super().__init__()
            self.said: list[str] = []

        def emit(self, record: logging.LogRecord) -> None:
            self.said.append(self.format(record))

    kept, root = Kept(), logging.getLogger()
    kept.setFormatter(logs.JsonFormatter())
    root.addHandler(kept)
    before = root.level
    root.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in kept.said]
    root.removeHandler(kept)
    root.setLevel(before)


@pytest.mark.django_db
def test_a_request_is_told_with_its_id_which_its_answer_has_too(client, lines):
    client.get("/work/12.not-a-token/")
    answer = client.get("/healthz", headers={"X-Request-ID": "the-proxy-s-own-1"})
    assert answer.headers["X-Request-ID"] == "the-proxy-s-own-1"
    told = [line for line in lines() if line["logger"] == "crowdselect.web.logs"]
    assert [line["path"] for line in told] == ["/work/…/", "/healthz"]
    assert (told[1]["request"], told[1]["status"]) == ("the-proxy-s-own-1", 200)
    assert {"at", "level", "message", "method", "ms"} <= set(told[0])
    not_found = next(line for line in lines() if line["logger"] == "django.request")
    assert not_found["request"] == told[0]["request"]


@pytest.mark.parametrize("given", ["", "x", "a b c d e f g h", "é" * 10, "a" * 65, "a\tb" * 9])
def test_invalid_request_id_is_replaced(client, db, given):
    answer = client.get("/healthz", headers={"X-Request-ID": given})
    assert answer.headers["X-Request-ID"].isalnum()
    assert len(answer.headers["X-Request-ID"]) == 32


@pytest.mark.django_db
def test_a_step_is_told_with_its_run(lines):
    run = make_run()
    tasks.advance(run.pk)
    told = [line for line in lines() if line["logger"] == "selection.tasks"]
    assert [(line["run"], line["step"]) for line in told] == [(run.pk, 1)]


def test_an_error_is_one_line_too_and_keeps_no_secret(lines):
    token = "cs_0123456789abcdefghij"
    try:
        raise ValueError(f"no {token} at /mturk/3.secret/")
    except ValueError:
        logging.getLogger("x").exception("Went wrong", extra={"run": object(), "step": 4})
    (line,) = lines()
    assert "ValueError: no … at /mturk/…/" in line["error"]
    assert line["step"] == 4
    assert "run" not in line  # no object is an id


def test_words_or_objects_by_setting():
    for as_json, kind in (
        (True, "crowdselect.web.logs.JsonFormatter"),
        (False, "crowdselect.web.logs.RedactingFormatter"),
    ):
        made = logs.logging_configuration(as_json, "INFO")
        assert made["formatters"]["plain"]["()"] == kind
        assert made["root"]["level"] == "INFO"


# -- to others


def test_errors_and_traces_go_to_others_only_where_a_setting_says_so(monkeypatch):
    begun: list[object] = []
    there = SimpleNamespace(
        init=lambda **how: begun.append(how), initialize=lambda: begun.append("ot")
    )
    monkeypatch.setattr(tracing, "import_module", lambda name: there)
    monkeypatch.setattr(tracing, "find_spec", lambda name: True)
    monkeypatch.setattr(os, "environ", {tracing.LEFT_OUT: "/healthz"})
    tracing.start_tracing("web")
    assert begun == []
    with override_settings(SENTRY_DSN="https://key@sentry.example/1", OPENTELEMETRY="http://x"):
        tracing.start_tracing("web")
    how, other = begun
    assert other == "ot"
    assert os.environ[tracing.LEFT_OUT].startswith("/healthz,/gold/,/join/")
    assert os.environ["OTEL_SERVICE_NAME"] == "crowdselect-web"
    assert how["send_default_pii"] is how["include_local_variables"] is False
    event = {"request": {"url": "https://c.example/work/12.abc/", "more": ["cs_0123456789abcdefg"]}}
    assert how["before_send"](event, None) == {
        "request": {"url": "https://c.example/work/…/", "more": ["…"]}
    }
