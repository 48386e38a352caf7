"""Replies of servers in their many forms, read as one outcome; and refused requests."""

import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from selection.errors import Refused
from selection.http.safe_http import LONGEST_WAIT
from selection.model_workers import extras
from selection.model_workers.adjustments import adjust_body, find_change
from selection.model_workers.completions import (
    Fault,
    Outcome,
    ServerError,
    count_tokens,
    parse_duration,
    read_completion,
    read_usage,
    read_wait,
)

BODY = {"model": "m", "messages": [{"role": "user", "content": "?"}], "max_tokens": 16}
RATE = {"message": "Provider returned error", "code": 429}


def read(document: Any) -> Outcome:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_completion(body, 1, "")


def completion(message: Any, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def events(*documents: Any, end: bytes = b"data: [DONE]\n\n") -> bytes:
    lines = [b": processing\n\n"] + [
        b"data: " + json.dumps(document).encode() + b"\r\n\r\n" for document in documents
    ]
    return b"".join(lines) + end


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


THOUGHTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "A? C?"}]}]
TOOL = {"function": {"name": "answer", "arguments": '{"answer": "B"}'}}


@pytest.mark.parametrize(
    ("document", "reply", "finish"),
    [
        (completion({"content": "B"}), "B", "stop"),
        (completion({"content": [*THOUGHTS, {"type": "text", "text": "B"}]}), "B", "stop"),
        (completion({"content": ["B"]}), "B", "stop"),
        (completion({"content": 42}), "42", "stop"),
        (completion({"content": {"answer": "B"}}), '{"answer": "B"}', "stop"),
        (completion({"content": None, "tool_calls": [TOOL]}), '{"answer": "B"}', "stop"),
        (completion({"function_call": TOOL["function"]}), '{"answer": "B"}', "stop"),
        (completion({"content": None, "refusal": "No."}), "No.", "refusal"),
        (completion({"content": ""}, "MAX_TOKENS"), "", "length"),
        ({"choices": [{"text": "B", "finish_reason": "stop"}]}, "B", "stop"),
        (b'\xef\xbb\xbf {"choices": [{"text": "\\ud83d B\\u0000"}]}', "\ufffd B\ufffd", ""),
        (events(delta(content="B"), delta(content="!")), "B!", "stop"),
        (events(delta(reasoning="A?"), delta("length", content="B"), end=b""), "B", "length"),
        (events(delta(tool_calls=[TOOL])), '{"answer": "B"}', "stop"),
    ],
)
def test_read_a_reply_in_any_form(document: Any, reply: str, finish: str) -> None:
    outcome = read(document)
    assert (outcome.fault, outcome.reply, outcome.finish) == (None, reply, finish)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_without_content_are_named(name: str) -> None:
    outcome = read(completion({"content": None, name: "It is B."}))
    assert (outcome.reply, outcome.fault) == ("", None)
    assert f"all of it is in “{name}”" in outcome.problem


@pytest.mark.parametrize(
    ("document", "fault", "words"),
    [
        ({"error": RATE}, Fault.RATE, "error 429: Provider returned error"),
        ({"id": None, "choices": None, "error": RATE}, Fault.RATE, "Provider returned error"),
        ({"error": RATE | {"metadata": {"raw": "Slow."}}}, Fault.RATE, "(Slow.)"),
        ({"error": RATE | {"code": "502"}}, Fault.SERVER, "502"),
        ({"error": RATE | {"code": "insufficient_quota"}}, Fault.SETTINGS, "Provider"),
        ({"error": "model not loaded"}, Fault.SERVER, "model not loaded"),
        ({"object": "error", "message": "no", "code": 400}, Fault.REQUEST, "no"),
        ([{"error": RATE}], Fault.RATE, "Provider"),
        (completion({"content": ""}, "error"), Fault.SERVER, "provider failed"),
        ({"choices": [{"error": RATE, "finish_reason": "error"}]}, Fault.RATE, "Provider"),
        (events(delta(content="A"), {"error": RATE}), Fault.RATE, "Provider"),
    ],
)
def test_an_error_in_a_reply_is_a_fault_and_not_charged(
    document: Any, fault: Fault, words: str
) -> None:
    outcome = read(document)
    assert (outcome.fault, outcome.charged) == (fault, False)
    assert words in outcome.problem


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": ' + b"[" * 40_000,
        b'{"choices": []}',
        b"[]",
        b"<html>",
        events(delta(content="A"), end=b""),
        b"data: [\n\n",
        b"data: {}\n" * 200_002,
    ],
)
def test_no_reply_raises_one_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(body)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": "20", "completion_tokens": 2.0}, (20, 2)),
        ({"input_tokens": 20, "output_tokens": 2}, (20, 2)),
        ({"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 322}, (20, 302)),
        ({"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 0}, (20, 2)),
        ({"prompt_tokens": 20, "completion_tokens": 2**40}, (20, 2**31 - 1)),
        ({"prompt_tokens": -20, "completion_tokens": 2}, (None, None)),
        ({"prompt_tokens": 20, "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": 20, "completion_tokens": "many"}, (None, None)),
        ({"prompt_tokens": 20, "completion_tokens": float("nan")}, (None, None)),
        ({"prompt_tokens": 20}, (None, None)),
        ([1], (None, None)),
    ],
)
def test_read_usage_in_any_form(usage: Any, tokens: tuple[int | None, int | None]) -> None:
    assert read_usage(usage) == tokens
    assert count_tokens("9" * 5_000) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("1.5", 1.5),
        ("1s", 1),
        ("350ms", 0.35),
        ("1m30s", 90),
        ("9e9", 0),
        ("-5", 0),
        ("soon", 0),
        ("1" * 300, LONGEST_WAIT),
        ("Thu, 26 Nov 2099 13:00:00 GMT", LONGEST_WAIT),
        ("Thu, 26 Nov 1999 13:00:00 GMT", 0),
    ],
)
def test_read_a_wait(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


def test_find_the_wait_in_headers() -> None:
    assert read_wait({"retry-after-ms": "700", "retry-after": "1"}) == pytest.approx(0.7)
    assert read_wait({"retry-after": formatdate(time.time() + 60, usegmt=True)}) > 50
    reset = {"x-ratelimit-reset-tokens": "2s", "x-ratelimit-remaining-tokens": "0"}
    assert read_wait(reset | {"x-ratelimit-remaining-requests": "9"}) == 2
    assert read_wait({}) == 0


@pytest.mark.parametrize(
    ("words", "parameter", "change"),
    [
        ("Unsupported parameter. Use 'max_completion_tokens'.", "max_tokens", "renamed"),
        ("Unsupported parameter: 'max_tokens' is not supported", "", "renamed"),
        ("'temperature' does not support 0 with this model.", "", {"temperature": None}),
        ("Extra inputs are not permitted", "seed", {"seed": None}),
        ("response_format: extra fields not permitted", "", {"response_format": None}),
        ("Unknown name", "response_format.json_schema", {"response_format": None}),
        ("This model only supports streaming. Set stream to true.", "", {"stream": True}),
        ("The prompt is too long: 9000 tokens, max_tokens 16", "", {}),
        ("Unknown model", "model", {}),
        ("Invalid request", "", {}),
    ],
)
def test_find_the_change_that_a_refusal_asks_for(words: str, parameter: str, change: Any) -> None:
    more = {"temperature": 0, "seed": 1, "response_format": {}}
    body = BODY | more
    wanted = {"max_tokens": "max_completion_tokens"} if change == "renamed" else change
    assert find_change(body, ServerError(words, parameter=parameter), {}) == wanted


def test_the_limit_of_tokens_is_never_left_out() -> None:
    made = {"max_tokens": "max_completion_tokens"}
    error = ServerError("Unsupported parameter: 'max_completion_tokens'")
    again = find_change(adjust_body(BODY, made), error, made)
    assert again == {"max_completion_tokens": "max_tokens"}
    made |= again
    assert adjust_body(BODY, made) == BODY
    assert find_change(BODY, ServerError("Unsupported parameter: 'max_tokens'"), made) == {}


def test_adjust_a_request() -> None:
    made = {"max_tokens": "max_completion_tokens", "stream": True, "seed": None}
    assert adjust_body(BODY | {"seed": 1}, made) == {
        "model": "m",
        "messages": BODY["messages"],
        "max_completion_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "stream_options" not in adjust_body(BODY, made | {"stream_options": None})


@pytest.mark.parametrize(
    ("check", "extra", "problem"),
    [
        (extras.check_body, {"messages": []}, "use “prompt”"),
        (extras.check_body, {"n": 9}, "one reply"),
        (extras.check_body, [], None),
        (extras.check_body, ["top_p"], "mapping"),
        (extras.check_body, {"top_p": float("nan")}, "no JSON"),
        (extras.check_body, {"a": "x" * 30_000}, "20,000"),
        (extras.check_headers, {"Api-Key": "sk-1"}, "secret"),
        (extras.check_headers, {"Authorization": "Bearer sk-1"}, "secret"),
        (extras.check_headers, {"Authorization": "Token {key}"}, None),
        (extras.check_headers, {"Host": "a"}, "cannot be set"),
        (extras.check_headers, {"A b": "a"}, "no name"),
        (extras.check_headers, {"A": "a\r\nB: c"}, "ASCII"),
        (extras.check_query, {"api-version": ["a"]}, "no text"),
        (extras.check_query, None, None),
    ],
)
def test_extras_are_checked(check: Any, extra: Any, problem: str | None) -> None:
    if problem is None:
        assert check(extra) == (extra or {})
    else:
        with pytest.raises(Refused, match=problem):
            check(extra)
