"""Calls of model servers, many at once, by the OpenAI protocol.

By aiohttp alone: typed clients spend three quarters of a call's CPU time on objects for its parts.
"""

import asyncio
import ipaddress
import json
import math
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from django.conf import settings

from selection.errors import Refused
from selection.models.model_workers import PROBLEM_LENGTH
from selection.webhooks import safe_http

from .api_keys import hide_key

SETTING = "MODELS_INSIDE"
LONGEST_REPLY = 100_000  # characters of a reply that are kept
LONGEST_BODY = 10_000_000  # bytes of a reply, with all that is around its text
LONGEST_WAIT = 600.0  # seconds of a server's retry-after that are respected
CONNECTIONS = 10_000


class Fault(Enum):
    """The cause of a failed call: it decides on what follows.

    RATE     too many calls: wait, then again
    SERVER   no reply, or an error of the server: wait, then again
    SETTINGS wrong key, model or address: nothing works until somebody changes it
    REQUEST  this request is refused, for example too long: others may work
    """

    RATE = "rate"
    SERVER = "server"
    SETTINGS = "settings"
    REQUEST = "request"


@dataclass(frozen=True)
class Outcome:
    """The end of a call.

    fault        None if the model replied
    charged      True if a failed call may have been charged
    retry_after  seconds that the server asks to wait
    finish       reason for the reply's end, for example "length" or "content_filter"
    """

    milliseconds: int
    fault: Fault | None = None
    problem: str = ""
    charged: bool = False
    reply: str = ""
    finish: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    request_id: str = ""
    retry_after: float = 0.0


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
    """Return the server's address without a slash at its end. Raises Refused for an invalid one."""
    return safe_http.check_url(url, SETTING).rstrip("/")


def open_client(url: str, key: str) -> aiohttp.ClientSession:
    """Return a client of the server; the caller closes it. Raises Refused for its address.

    Names are resolved by the loop that it is opened in. Its caller sets the time.
    """
    address = check_url(url)
    _refuse_inner_address(address)
    resolver = aiohttp.ThreadedResolver()  # by the loop, which is guarded
    try:
        return aiohttp.ClientSession(
            f"{address}/",
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, resolver=resolver),
            headers={"Authorization": f"Bearer {key or 'none'}", "User-Agent": "CrowdSelect"},
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
    except ValueError as error:
        raise Refused(f"The address “{url}” cannot be used: {error}.") from error


def _refuse_inner_address(url: str) -> None:
    """Raise Refused for the number of an address in our own network: it is not resolved."""
    host = urlsplit(url).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    if not (settings.MODELS_INSIDE or safe_http.is_public(host)):
        raise Refused(safe_http.INSIDE.format(setting=SETTING))


async def ask_model(
    client: aiohttp.ClientSession, body: dict[str, Any], key: str, timeout: float
) -> Outcome:
    """Send the request and return the outcome. Never raises, except when cancelled."""
    start = time.monotonic()
    try:
        async with asyncio.timeout(timeout):
            reply = await _send_request(client, "POST", "chat/completions", body)
        outcome = _read_reply(reply, start) if reply.good else _read_status(reply, start)
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
    return _hide_key_in(outcome, key)


async def list_models(client: aiohttp.ClientSession, key: str) -> list[str]:
    """Return the names of the server's models. Raises Refused if the server does not list them."""
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
        return sorted(str(model["id"]) for model in json.loads(reply.body)["data"])
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


async def _send_request(
    client: aiohttp.ClientSession, method: str, path: str, body: dict[str, Any] | None = None
) -> _Reply:
    async with client.request(method, path, json=body, allow_redirects=False) as response:
        parts, size = [], 0
        async for part in response.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > LONGEST_BODY:
                raise ValueError(f"it has more than {LONGEST_BODY:,} bytes")
        return _Reply(response.status, response.headers, b"".join(parts))


def _read_reply(reply: _Reply, start: float) -> Outcome:
    completion = json.loads(reply.body)
    choice, usage = completion["choices"][0], completion.get("usage") or {}
    text, finish = choice["message"].get("content"), choice.get("finish_reason")
    text = text or choice["message"].get("refusal")
    if not (text or finish):
        raise ValueError("it has neither content nor a reason for its end")
    return Outcome(
        _since(start),
        reply=_clean(str(text or "")),
        finish=str(finish or ""),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        request_id=str(reply.headers.get("x-request-id") or completion.get("id") or "")[:100],
    )


def _read_status(reply: _Reply, start: float) -> Outcome:
    code = reply.status
    if code == 429:
        fault = Fault.RATE
    elif code in {401, 402, 403, 404}:
        fault = Fault.SETTINGS
    elif code in {408, 409} or code >= 500 or code < 400:
        fault = Fault.SERVER
    else:
        fault = Fault.REQUEST
    return replace(
        _build_failed(start, _describe_status(reply), fault),
        request_id=str(reply.headers.get("x-request-id") or "")[:100],
        retry_after=_seconds(reply.headers.get("retry-after")),
    )


def _describe_status(reply: _Reply) -> str:
    """Return the status and what the server says about it: a message, or else its whole reply."""
    said: Any = reply.body.decode(errors="replace")
    try:
        found = json.loads(said)
        error = found.get("error") or found
        said = error.get("message") or said if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        pass
    return f"The server answered {reply.status}: {_clean(str(said))}"


def _describe_connection(error: aiohttp.ClientConnectorError) -> str:
    """Return the address and the cause, in the words of the system."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        cause = str(error.certificate_error)
    else:
        cause = error.os_error.strerror or str(error.os_error)
        if cause.startswith("Connect call failed"):  # asyncio's words for every number
            cause = os.strerror(error.os_error.errno or 0)
    return f"No connection to {error.host}, port {error.port}: {cause}"


def _seconds(header: str | None) -> float:
    """Return the seconds of a retry-after header; 0 for none and for a date."""
    try:
        seconds = float(header or 0)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else 0.0


def _build_failed(start: float, problem: str, fault: Fault = Fault.SERVER) -> Outcome:
    return Outcome(_since(start), fault, _clean(problem))


def _build_lost(start: float, problem: str) -> Outcome:
    """Return the outcome of a call that reached the server and brought no usable reply."""
    return replace(_build_failed(start, problem), charged=True)


def _hide_key_in(outcome: Outcome, key: str) -> Outcome:
    return replace(
        outcome,
        problem=hide_key(outcome.problem, key)[:PROBLEM_LENGTH],
        reply=hide_key(outcome.reply, key),
        request_id=hide_key(outcome.request_id, key),
    )


def _clean(text: str) -> str:
    """Return the text as any database can store it."""
    return text.replace("\0", "").encode(errors="replace").decode()[:LONGEST_REPLY]


def _count(tokens: Any) -> int | None:
    return tokens if isinstance(tokens, int) and 0 <= tokens < 2**31 else None


def _since(start: float) -> int:
    return round(1000 * (time.monotonic() - start))
