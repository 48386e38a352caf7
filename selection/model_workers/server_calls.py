"""Calls of model servers, many at once, by the OpenAI protocol.

By aiohttp alone: typed clients spend three quarters of a call's CPU time on objects for its parts.
"""

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
from django.conf import settings

from selection.errors import Refused
from selection.http import safe_http
from selection.limits import LONGEST_JSON
from selection.models import ModelServer
from selection.models.model_workers import PROBLEM_LENGTH, REQUEST_ID_LENGTH
from selection.outside_text import parse_json

from .adjustments import MOST_CHANGES, adjust_body, find_change
from .api_keys import hide_key
from .completions import (
    Fault,
    Outcome,
    ServerError,
    fault_of_status,
    find_error,
    read_completion,
    read_wait,
)
from .extras import fill_key

SETTING = "MODELS_INSIDE"
LONGEST_BODY = LONGEST_JSON  # bytes of a reply, with all that is around its text
CONNECTIONS = 10_000
REDIRECTS = (301, 302, 303, 307, 308)


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop that resolves host names to permitted addresses only.

    So a changed DNS answer (DNS rebinding) does not lead into our own network.
    """

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        try:
            rows = await super().getaddrinfo(*args, **kwargs)
        except UnicodeError as error:
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from error
        allowed = [
            row for row in rows if settings.MODELS_INSIDE or safe_http.is_public(str(row[4][0]))
        ]
        if not allowed:
            raise socket.gaierror(socket.EAI_NONAME, safe_http.INSIDE.format(setting=SETTING))
        return allowed


def check_url(url: str) -> str:
    return safe_http.check_url(url, SETTING).rstrip("/")


@dataclass(frozen=True)
class ModelClient:
    """A session with a server. query: parameters of each address."""

    session: aiohttp.ClientSession
    query: Mapping[str, str] = field(default_factory=dict)

    async def close(self) -> None:
        await self.session.close()


def open_client(
    url: str,
    key: str,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
) -> ModelClient:
    """Open a client of the server; the caller closes it. Raises Refused for its address.

    Names are resolved by the loop that it is opened in. Its caller sets the time.

    headers  besides ours, or in their place; ``query`` likewise of the address
    """
    address = check_url(url)
    resolver = aiohttp.ThreadedResolver()  # by the loop, which is guarded
    sent = {"Authorization": f"Bearer {key or 'none'}", "User-Agent": "CrowdSelect"}
    own = fill_key(headers or {}, key)
    replaced = {name.lower() for name in own}
    sent = {name: value for name, value in sent.items() if name.lower() not in replaced} | own
    try:
        session = aiohttp.ClientSession(
            f"{address}/",
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, resolver=resolver),
            headers=sent,
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
    except ValueError as error:
        raise Refused(f"The address “{url}” cannot be used: {error}.") from error
    return ModelClient(session, fill_key(query or {}, key))


def open_server(server: ModelServer, key: str) -> ModelClient:
    return open_client(server.url, key, server.extra_headers, server.extra_query)


async def ask_model(client: ModelClient, body: dict[str, Any], key: str, timeout: float) -> Outcome:
    """Send the request and return the outcome. Never raises, except when cancelled.

    If the server refuses a parameter by its name, ask again without it or with its successor.
    """
    start, changes = time.monotonic(), dict[str, str | bool | None]()
    try:
        async with asyncio.timeout(timeout):
            reply = await _send_request(client, "POST", "chat/completions", body)
            while change := _find_change(reply, body, changes):
                changes |= change
                sent = adjust_body(body, changes)
                reply = await _send_request(client, "POST", "chat/completions", sent)
        if reply.good:
            name = str(reply.headers.get("x-request-id") or "")
            outcome = read_completion(reply.body, _since(start), name)
        else:
            outcome = _read_status(reply, start)
    except aiohttp.ClientConnectorError as error:
        outcome = _build_failed(start, _describe_connection(error))
    except aiohttp.InvalidURL as error:
        problem = f"The address cannot be used: {error}"
        outcome = _build_failed(start, problem, Fault.SETTINGS)
    except TimeoutError:
        outcome = _build_lost(start, f"No reply within {timeout:g} seconds.")
    except (aiohttp.ClientError, OSError) as error:
        outcome = _build_lost(start, f"The connection broke: {error}")
    except Exception as error:
        # A malformed reply has any type in any place.
        outcome = _build_lost(start, f"The reply is not readable: {error}")
    if outcome.fault is None:
        outcome = replace(outcome, adjustments=changes)
    return _hide_key_in(outcome, key)


def _find_change(
    reply: "_Reply", body: dict[str, Any], made: dict[str, str | bool | None]
) -> Mapping[str, str | bool | None]:
    if reply.status not in {400, 422} or len(made) >= MOST_CHANGES:
        return {}
    return find_change(adjust_body(body, made), reply.error, made)


async def list_models(client: ModelClient, key: str) -> list[str]:
    """List the names of the server's models. Raises Refused if the server does not list them."""
    try:
        reply = await _send_request(client, "GET", "models")
        reason = "" if reply.good else _describe_status(reply)
    except aiohttp.ClientConnectorError as error:
        reason = _describe_connection(error)
    except (aiohttp.ClientError, ConnectionError) as error:
        reason = str(error)
    if reason:
        reason = hide_key(reason, key)[:PROBLEM_LENGTH]
        raise Refused(f"The server does not list its models: {reason}")
    try:
        return sorted(str(model["id"]) for model in parse_json(reply.body)["data"])
    except Exception as error:
        raise Refused(f"The list of models is not readable: {type(error).__name__}.") from None


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def error(self) -> ServerError:
        try:
            fault = find_error(parse_json(self.body))
        except ValueError:
            fault = None
        return fault or ServerError(self.body[: 4 * PROBLEM_LENGTH].decode(errors="replace"))


async def _send_request(
    client: ModelClient, method: str, path: str, body: dict[str, Any] | None = None
) -> _Reply:
    request = client.session.request(
        method, path, json=body, params=client.query, allow_redirects=False
    )
    async with request as response:
        parts, size = [], 0
        async for part in response.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > LONGEST_BODY:
                raise ValueError(f"it has more than {LONGEST_BODY:,} bytes")
        return _Reply(response.status, response.headers, b"".join(parts))


def _read_status(reply: _Reply, start: float) -> Outcome:
    error = reply.error
    if reply.status == 400 and "content_filter" in error.names:  # of this question: no failure
        return Outcome(
            _since(start), finish="content_filter", problem=error.words, tokens_in=0, tokens_out=0
        )
    return replace(
        _build_failed(start, _describe_status(reply), fault_of_status(reply.status, error.names)),
        request_id=str(reply.headers.get("x-request-id") or ""),
        retry_after=read_wait(reply.headers),
    )


def _describe_status(reply: _Reply) -> str:
    place = reply.headers.get("location", "") if reply.status in REDIRECTS else ""
    if place:
        return f"The server answered {reply.status}: it has moved. Enter its new address: {place}"
    return f"The server answered {reply.status}: {reply.error.words}"


def _describe_connection(error: aiohttp.ClientConnectorError) -> str:
    """Describe the address and the cause, in the words of the system."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        cause = str(error.certificate_error)
    else:
        cause = error.os_error.strerror or str(error.os_error)
        if cause.startswith("Connect call failed"):  # asyncio's words for every number
            cause = os.strerror(error.os_error.errno or 0)
    return f"No connection to {error.host}, port {error.port}: {cause}"


def _build_failed(start: float, problem: str, fault: Fault = Fault.SERVER) -> Outcome:
    return Outcome(_since(start), fault, problem)


def _build_lost(start: float, problem: str) -> Outcome:
    return replace(_build_failed(start, problem), charged=True)


def _hide_key_in(outcome: Outcome, key: str) -> Outcome:
    return replace(
        outcome,
        problem=hide_key(outcome.problem, key)[:PROBLEM_LENGTH],
        reply=hide_key(outcome.reply, key),
        request_id=hide_key(outcome.request_id, key)[:REQUEST_ID_LENGTH],
    )


def _since(start: float) -> int:
    return round(1000 * (time.monotonic() - start))
