"""One call of a server that replies in every way: the outcome, and where the request went."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from selection.errors import Refused
from selection.model_workers.server_calls import (
    LONGEST_BODY,
    Fault,
    GuardedLoop,
    Outcome,
    ask_model,
    list_models,
    open_client,
)
from tests.model_stub import ModelStub, completion

KEY = "sk-planted-1234567890"
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def ask(answer: Answer, timeout: float = 20.0) -> tuple[Outcome, list[str]]:
    """Return the outcome of a call that is answered so, and the paths that were asked for."""
    paths: list[str] = []

    async def note(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        return await answer(request)

    async def call() -> Outcome:
        runner = web.ServerRunner(web.Server(note), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        client = open_client(f"http://127.0.0.1:{runner.addresses[0][1]}/v1/", KEY)
        try:
            return await ask_model(client, {"model": "m"}, KEY, timeout)
        finally:
            await client.close()
            await runner.cleanup()

    with asyncio.Runner(loop_factory=GuardedLoop) as loop:
        return loop.run(call()), paths


def ask_address(url: str) -> Outcome:
    async def call() -> Outcome:
        client = open_client(url, KEY)
        try:
            return await ask_model(client, {"model": "m"}, KEY, 5.0)
        finally:
            await client.close()

    with asyncio.Runner(loop_factory=GuardedLoop) as loop:
        return loop.run(call())


def test_read_a_reply_and_hide_a_repeated_key() -> None:
    async def answer(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        assert await request.json() == {"model": "m"}
        said = completion("m", f"B, and {KEY}")
        return web.json_response(said, headers={"x-request-id": "r-1"})

    outcome, paths = ask(answer)
    assert paths == ["/v1/chat/completions"]
    assert (outcome.fault, outcome.reply) == (None, "B, and [API key]")
    assert (outcome.tokens_in, outcome.tokens_out, outcome.finish) == (20, 2, "stop")
    assert outcome.request_id == "r-1"


def test_send_declared_headers_and_query_and_adjust_a_refused_request() -> None:
    bodies = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        assert request.headers.getall("Authorization") == [f"Token {KEY}"]
        assert (request.headers["api-key"], request.query["api-version"]) == (KEY, "1")
        if "max_tokens" in bodies[-1]:
            told = {"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens"}
            return web.json_response({"error": told}, status=400)
        return web.json_response(completion("m", "B"))

    async def call() -> Outcome:
        runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        headers = {"authorization": "Token {key}", "api-key": "{key}"}
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        client = open_client(url, KEY, headers, {"api-version": "1"})
        try:
            return await ask_model(client, {"model": "m", "max_tokens": 9}, KEY, 20.0)
        finally:
            await client.close()
            await runner.cleanup()

    with asyncio.Runner(loop_factory=GuardedLoop) as loop:
        outcome = loop.run(call())
    assert (outcome.reply, outcome.adjustments) == ("B", {"max_tokens": "max_completion_tokens"})
    assert bodies[1:] == [{"model": "m", "max_completion_tokens": 9}]


def test_a_moved_server_is_named() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("https://other.example/v1")

    outcome, _ = ask(answer)
    assert "Enter its new address: https://other.example/v1" in outcome.problem


def test_follow_no_redirect() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("/elsewhere")

    outcome, paths = ask(answer)
    assert outcome.fault == Fault.SERVER
    assert outcome.problem.startswith("The server answered 307: ")
    assert paths == ["/v1/chat/completions"]


def test_stop_reading_an_endless_reply() -> None:
    sent = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while sent < 10 * LONGEST_BODY:
            await response.write(b" " * 1_000_000)
            sent += 1_000_000
        return response

    outcome, _ = ask(answer)
    assert (outcome.fault, outcome.charged) == (Fault.SERVER, True)
    assert outcome.problem == "The reply is not readable: it has more than 10,000,000 bytes"
    assert sent < 2 * LONGEST_BODY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "[]",
        "null",
        "\xff",
        "[" * 9999,
        '{"choices": []}',
        '{"choices": 7, "usage": 3}',
        '{"choices": [{"message": null}]}',
        '{"choices": [{"message": {"content": ""}}]}',
    ],
)
def test_a_malformed_reply_may_have_been_charged(text: str) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=text.encode("latin-1"), content_type="application/json")

    outcome, _ = ask(answer)
    assert (outcome.fault, outcome.charged) == (Fault.SERVER, True)
    assert outcome.problem.startswith("The reply is not readable: ")


@pytest.mark.parametrize(
    ("status", "text", "fault", "said"),
    [
        (429, '{"error": {"message": "slow down"}}', Fault.RATE, "slow down"),
        (401, f'{{"error": "bad {KEY}"}}', Fault.SETTINGS, "bad [API key]"),
        (404, '{"message": "no model"}', Fault.SETTINGS, "no model"),
        (422, '{"detail": "too long"}', Fault.REQUEST, '{"detail": "too long"}'),
        (400, '["odd"]', Fault.REQUEST, '["odd"]'),
        (503, "<html>", Fault.SERVER, "<html>"),
        (304, "", Fault.SERVER, ""),
    ],
)
def test_server_error_is_reported_in_its_own_words(
    status: int, text: str, fault: Fault, said: str
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, text=text, headers={"retry-after": "7"})

    outcome, _ = ask(answer)
    assert (outcome.fault, outcome.charged, outcome.retry_after) == (fault, False, 7.0)
    assert outcome.problem == f"The server answered {status}: {said}"


def test_a_silent_server_may_charge() -> None:
    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    outcome, _ = ask(answer, timeout=0.2)
    assert (outcome.fault, outcome.charged) == (Fault.SERVER, True)
    assert outcome.problem == "No reply within 0.2 seconds."


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://127.1/v1", "The address cannot be used: "),
        ("https://2130706433/v1", "The address cannot be used: "),
        ("https://0x7f.1/v1", "No connection to 0x7f.1, port 443: "),  # resolved, to 127.0.0.1
        ("https://a..b/v1", "No connection to a..b, port 443: "),
    ],
)
def test_call_no_inner_address_in_disguise(settings: Any, url: str, problem: str) -> None:
    settings.MODELS_INSIDE = False
    outcome = ask_address(url)
    assert outcome.problem.startswith(problem)
    assert not outcome.charged
    if url.startswith("https://0x"):
        assert "on this machine or in its network" in outcome.problem


def test_name_the_cause_of_a_failed_handshake() -> None:
    with ModelStub(lambda model, text: "A") as stub:
        outcome = ask_address(stub.url.replace("http:", "https:"))
    assert outcome.problem.startswith(f"No connection to 127.0.0.1, port {stub.port}: [SSL")
    assert "ssl:default" not in outcome.problem


@pytest.mark.parametrize("url", ["https://[::ffff:127.0.0.1]/v1", "https://10.0.0.1/v1"])
def test_refuse_an_inner_address(settings: Any, url: str) -> None:
    settings.MODELS_INSIDE = False
    with pytest.raises(Refused, match="on this machine or in its network"):
        ask_address(url)


def test_tell_why_models_are_not_listed() -> None:
    async def list_off() -> list[str]:
        client = open_client("http://127.0.0.1:9/v1", KEY)
        try:
            return await list_models(client, KEY)
        finally:
            await client.close()

    with (
        asyncio.Runner(loop_factory=GuardedLoop) as loop,
        pytest.raises(Refused, match=r"No connection to 127\.0\.0\.1, port 9: Connection refused"),
    ):
        loop.run(list_off())
