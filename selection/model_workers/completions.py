"""Completions, streams and errors of model servers in their many forms, as one outcome."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from selection.http.safe_http import parse_duration
from selection.limits import LONGEST_MODEL_REPLY
from selection.models.model_workers import PROBLEM_LENGTH
from selection.outside_text import clean_text, parse_json

MOST_TOKENS = 2**31 - 1  # that the ledger's column holds
MOST_EVENTS = 200_000  # of a stream
# Names of one thing at different servers; the first that is present counts.
TOKENS_IN, TOKENS_OUT = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
THOUGHTS = ("reasoning_content", "reasoning", "thinking")
TEXT_CHUNKS = {None, "text", "output_text"}  # types of chunks that are no thoughts
FINISHES = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "safety": "content_filter",
    "prohibited_content": "content_filter",
}
MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


class Fault(Enum):
    """The cause of a failed call: it decides on the next step.

    RATE     too many calls: wait, then again
    SERVER   no reply, or an error of the server: wait, then again
    SETTINGS wrong key, model or address: nothing works until it is changed
    REQUEST  this request is refused, for example too long: others may work
    """

    RATE = "rate"
    SERVER = "server"
    SETTINGS = "settings"
    REQUEST = "request"


# By status; ``SERVER`` from 500 and below 400, else ``REQUEST``.
STATUS_FAULTS = {429: Fault.RATE, 408: Fault.SERVER, 409: Fault.SERVER} | dict.fromkeys(
    (401, 402, 403, 404), Fault.SETTINGS
)
# By code or type of the error, which says more than the status.
NAMED_FAULTS = {
    "insufficient_quota": Fault.SETTINGS,
    "billing_hard_limit_reached": Fault.SETTINGS,
    "billing_not_active": Fault.SETTINGS,
    "invalid_api_key": Fault.SETTINGS,
    "authentication_error": Fault.SETTINGS,
    "model_not_found": Fault.SETTINGS,
    "rate_limit_exceeded": Fault.RATE,
    "rate_limit_error": Fault.RATE,
    "resource_exhausted": Fault.RATE,
    "context_length_exceeded": Fault.REQUEST,
}


@dataclass(frozen=True)
class Outcome:
    """The end of a call. Its texts and numbers can be stored, for any reply of the server.

    fault        None if the model replied
    charged      True if a failed call may have been charged
    retry_after  seconds that the server asks to wait
    finish       reason for the reply's end, for example "length", "content_filter" or "refusal"
    adjustments  changes of the request without which the server refuses it, see ``adjustments``
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
    adjustments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("problem", "reply", "finish", "request_id"):
            text = clean_text(getattr(self, name), LONGEST_MODEL_REPLY)
            object.__setattr__(self, name, text)


@dataclass(frozen=True)
class ServerError:
    """An error in a server's words. parameter: a refused one, if it is named."""

    words: str
    code: int | None = None
    names: frozenset[str] = frozenset()
    parameter: str = ""

    @property
    def fault(self) -> Fault:
        return fault_of_status(self.code or 500, self.names)


def fault_of_status(status: int, names: frozenset[str]) -> Fault:
    if faults := names & NAMED_FAULTS.keys():
        return NAMED_FAULTS[min(faults)]
    default = Fault.REQUEST if 400 <= status < 500 else Fault.SERVER
    return STATUS_FAULTS.get(status, default)


def read_completion(body: bytes, milliseconds: int, request_id: str) -> Outcome:
    """Read the outcome of a reply with a status of success. Raises ValueError for no reply."""
    document = _parse_body(body)
    failed = not isinstance(document, dict) or not document.get("choices") or document.get("error")
    error = find_error(document) if failed else None
    if not (error or isinstance(document, dict)):
        raise ValueError("it is no JSON object")
    document = document if isinstance(document, dict) else {}
    choice = {} if error else _find_choice(document)
    finish = str(choice.get("finish_reason") or "").lower()
    tokens_in, tokens_out = read_usage(document.get("usage"))
    request_id = request_id or str(document.get("id") or "")
    if error or finish == "error" or choice.get("error"):
        error = error or find_error(choice) or ServerError("the model's provider failed")
        return Outcome(
            milliseconds,
            error.fault,
            f"The server answered 200 with the error {error.code or error.fault.value}: "
            f"{error.words}",
            charged=bool(tokens_out),
            request_id=request_id,
        )
    text, finish, problem = _read_message(choice, FINISHES.get(finish, finish))
    return Outcome(
        milliseconds,
        problem=problem,
        reply=text,
        finish=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        request_id=request_id,
    )


def _read_message(choice: dict[str, Any], finish: str) -> tuple[str, str, str]:
    """Read the text of a choice, the reason for its end, and why it has no text, if known."""
    message = choice.get("message") if isinstance(choice.get("message"), dict) else choice
    assert message is not None
    text = read_text(message.get("content")) or read_text(message.get("text"))
    text = text or _read_tool_call(message)
    if not text and message.get("refusal"):
        return read_text(message["refusal"]), "refusal", ""
    if not (text or finish):
        raise ValueError("it has neither content nor a reason for its end")
    thoughts = next((name for name in THOUGHTS if message.get(name)), "")
    if text or finish == "length" or not thoughts:
        return text, finish, ""
    why = f"The reply has no content: all of it is in “{thoughts}”. Raise the limit of output "
    return text, finish, f"{why}tokens, or change how the server separates thoughts."


def read_text(content: Any) -> str:
    """Read the text of a message's content: a text, or chunks, of which thoughts are left out."""
    if isinstance(content, list):
        return "".join(map(read_text, content))
    if isinstance(content, dict):
        if "text" in content or "type" in content:
            return read_text(content.get("text")) if content.get("type") in TEXT_CHUNKS else ""
        return json.dumps(content, ensure_ascii=False)
    return "" if content is None else str(content)


def _read_tool_call(message: Mapping[str, Any]) -> str:
    """Read the arguments of the first tool that the model calls in place of an answer."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else message.get("function_call")
    return read_text(function.get("arguments")) if isinstance(function, dict) else ""


def _find_choice(document: Mapping[str, Any]) -> dict[str, Any]:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        raise ValueError("it has no choices")
    return first


# -- streams


def _parse_body(body: bytes) -> Any:
    """Read the document, or the one that the events of a stream make up."""
    start = body.lstrip()[:6]
    if start.startswith((b"data:", b"event:", b":", b"id:")):
        return _join_events(body)
    return parse_json(body)


def _join_events(body: bytes) -> dict[str, Any]:
    pieces: list[str] = []
    arguments: list[str] = []
    choice: dict[str, Any] = {}
    joined: dict[str, Any] = {"choices": [choice]}
    ended = False
    for event in _read_events(body):
        if event is None:
            ended = True
            break
        if not event.get("choices") and find_error(event):
            return event
        joined |= {name: event[name] for name in ("id", "usage") if event.get(name)}
        if not event.get("choices"):
            continue
        first_choice = _find_choice(event)
        choice |= {name: value for name, value in first_choice.items() if value and name != "delta"}
        delta = first_choice.get("delta") or {}
        pieces.append(read_text(delta.get("content")))
        arguments.append(_read_tool_call(delta))
        choice |= {name: delta[name] for name in (*THOUGHTS, "refusal") if delta.get(name)}
    if not (ended or choice.get("finish_reason")):
        raise ValueError("the stream ended early")
    content = "".join(pieces) or "".join(arguments)
    return joined | {"choices": [{"content": content, "finish_reason": "stop"} | choice]}


def _read_events(body: bytes) -> Iterator[dict[str, Any] | None]:
    """Yield the documents of the stream's events, and None at its end."""
    for number, line in enumerate(body.splitlines()):
        if number > MOST_EVENTS:
            raise ValueError(f"it has more than {MOST_EVENTS:,} events")
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        event = None if data == b"[DONE]" else parse_json(data)
        if event is None or isinstance(event, dict):
            yield event


# -- numbers


def read_usage(usage: Any) -> tuple[int | None, int | None]:
    """Read the input and output tokens, hidden thoughts included; None for what is not told."""
    usage = usage if isinstance(usage, dict) else {}
    tokens_in, tokens_out, total = (
        count_tokens(next((usage[name] for name in names if usage.get(name) is not None), None))
        for names in (TOKENS_IN, TOKENS_OUT, ("total_tokens",))
    )
    if tokens_in is None or tokens_out is None:
        return None, None
    return tokens_in, max(tokens_out, (total or 0) - tokens_in)


def count_tokens(number: Any) -> int | None:
    """Read a count that may be a float or a text; None for anything else, at most the most."""
    try:
        value = None if isinstance(number, bool) else float(number)
    except (TypeError, ValueError, OverflowError):
        return None
    if value is None or not 0 <= value < float("inf") or value != int(value):
        return None
    return min(int(value), MOST_TOKENS)


def read_wait(headers: Mapping[str, str]) -> float:
    for name in MILLISECONDS:
        if seconds := parse_duration(f"{headers.get(name, '')}ms"):
            return seconds
    limited = [
        headers.get(f"x-ratelimit-reset-{kind}", "")
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}", "0") == "0"
    ]
    wait = parse_duration(headers.get("retry-after", ""))
    return wait or max(map(parse_duration, limited), default=0.0)


# -- errors


def find_error(document: Any) -> ServerError | None:
    if isinstance(document, list) and document:  # Gemini's
        document = document[0]
    if not isinstance(document, dict):
        return None
    error = document.get("error") or document
    if isinstance(error, str):
        return ServerError(error)
    if not isinstance(error, dict):
        return None
    if isinstance(error.get("detail"), list) and error["detail"]:
        return _read_detail(error["detail"][0])
    message = error.get("message")
    if not (isinstance(message, str) and message):
        return None if error is document else ServerError(json.dumps(error)[:PROBLEM_LENGTH])
    metadata = error.get("metadata")
    raw = read_text(metadata.get("raw")) if isinstance(metadata, dict) else ""
    names = {str(error.get(name)).lower() for name in ("code", "type", "status")}
    return ServerError(
        f"{message} ({raw})" if raw else message,
        count_tokens(error.get("code")),
        frozenset(names),
        str(error.get("param") or ""),
    )


def _read_detail(detail: Any) -> ServerError:
    """Read the first entry of FastAPI's list of faults."""
    place = detail.get("loc") if isinstance(detail, dict) else None
    if not (isinstance(place, list) and place):
        return ServerError(json.dumps(detail)[:PROBLEM_LENGTH])
    name = str(place[1] if len(place) > 1 else place[0])
    return ServerError(f"{name}: {detail.get('msg')}", parameter=name)
