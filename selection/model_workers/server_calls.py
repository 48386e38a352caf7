"""Calls of model servers, many at once: the OpenAI protocol through the ``openai`` package."""

import asyncio
import ipaddress
import math
import socket
import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from django.conf import settings

from selection.errors import Refused
from selection.models.model_workers import PROBLEM_LENGTH
from selection.webhooks import safe_http

from .api_keys import hide_key

SETTING = "MODELS_INSIDE"
LONGEST_REPLY = 100_000  # characters of a reply that are kept
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
        rows = await super().getaddrinfo(*args, **kwargs)
        allowed = [
            row for row in rows if settings.MODELS_INSIDE or safe_http.is_public(str(row[4][0]))
        ]
        if not allowed:
            raise socket.gaierror(safe_http.INSIDE.format(setting=SETTING))
        return allowed


def check_url(url: str) -> str:
    """Return the server's address without a slash at its end. Raises Refused for an invalid one."""
    return safe_http.check_url(url, SETTING).rstrip("/")


def open_client(url: str, key: str, timeout: float) -> openai.AsyncOpenAI:
    """Return a client of the server; the caller closes it. Raises Refused for its address."""
    address = check_url(url)
    _refuse_inner_address(address)
    http_client = openai.DefaultAioHttpClient(
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
        limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
    )
    try:
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=address,
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
        )
    except httpx2.InvalidURL as error:
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
    client: openai.AsyncOpenAI, body: dict[str, Any], key: str, timeout: float
) -> Outcome:
    """Send the request and return the outcome. Never raises, except when cancelled."""
    start = time.monotonic()
    try:
        async with asyncio.timeout(timeout):
            raw = await client.chat.completions.with_raw_response.create(**body, timeout=timeout)
            outcome = _read_reply(raw, start)
    except TimeoutError:
        outcome = _build_lost(start, f"No reply within {timeout:g} seconds.")
    except openai.APIStatusError as error:
        outcome = _read_status(error, start)
    except openai.APIConnectionError as error:
        outcome = _read_connection_error(error, start, timeout)
    except Exception as error:
        # A malformed reply fails in the package, in ways that it does not document.
        outcome = _build_lost(start, f"The reply is not readable: {error}")
    return _hide_key_in(outcome, key)


async def list_models(client: openai.AsyncOpenAI, key: str) -> list[str]:
    """Return the names of the server's models. Raises Refused if the server does not list them."""
    try:
        page = await client.models.list()
    except openai.OpenAIError as error:
        reason = hide_key(str(error), key)[:PROBLEM_LENGTH]
        raise Refused(f"The server does not list its models: {reason}") from None
    except Exception as error:
        raise Refused(f"The list of models is not readable: {type(error).__name__}.") from None
    return sorted(str(model.id) for model in page.data)


def _read_reply(raw: Any, start: float) -> Outcome:
    completion = raw.parse()
    choice = completion.choices[0]
    message, usage = choice.message, completion.usage
    if not (message.content or getattr(message, "refusal", None) or choice.finish_reason):
        raise ValueError("it has neither content nor a reason for its end")
    return Outcome(
        _since(start),
        reply=_clean(str(message.content or getattr(message, "refusal", None) or "")),
        finish=str(choice.finish_reason or ""),
        tokens_in=_count(getattr(usage, "prompt_tokens", None)),
        tokens_out=_count(getattr(usage, "completion_tokens", None)),
        request_id=str(raw.headers.get("x-request-id") or completion.id or "")[:100],
    )


def _read_status(error: openai.APIStatusError, start: float) -> Outcome:
    code = error.status_code
    if code == 429:
        fault = Fault.RATE
    elif code in {401, 402, 403, 404}:
        fault = Fault.SETTINGS
    elif code in {408, 409} or code >= 500 or code < 400:
        fault = Fault.SERVER
    else:
        fault = Fault.REQUEST
    headers = error.response.headers
    return replace(
        _build_failed(start, f"The server answered {code}: {_message_of(error)}", fault),
        request_id=str(headers.get("x-request-id") or "")[:100],
        retry_after=_seconds(headers.get("retry-after")),
    )


def _read_connection_error(
    error: openai.APIConnectionError, start: float, timeout: float
) -> Outcome:
    cause = error.__cause__ or error
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return _build_failed(start, f"No connection: {cause}")
    if isinstance(error, openai.APITimeoutError):
        return _build_lost(start, f"No reply within {timeout:g} seconds.")
    return _build_lost(start, f"The connection broke: {cause}")


def _message_of(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    return _clean(str(message or error.message))


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
