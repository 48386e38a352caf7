"""JSON over HTTP, to permitted addresses only."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from selection.http import safe_http
from selection.limits import MB
from selection.outbox.leases import renew_lease
from selection.outside_text import clean_text, parse_json

from .faults import Denied, Fault, Missing, Outage, Rejected

SETTING = "CONNECTORS_INSIDE"
# Bytes of a reply: of a long call, such as a project's export, and of another. Values: of its JSON,
# each of which takes far more memory than its text.
LONGEST_REPLY, USUAL_REPLY = 32 * MB, 4 * MB
MOST_VALUES = 2_000_000
LONGEST_TEXT = 200  # characters of an error that are repeated
BUSY = {408, 425, 429}


def check_url(url: str) -> str:
    """Check the address and drop a slash at its end. Raises Refused for an invalid one."""
    return safe_http.check_url(url, SETTING).rstrip("/")


def call_json(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: Any = None,
    query: Mapping[str, Any] | None = None,
    seconds: float = safe_http.SECONDS,
) -> Any:
    """Fetch the reply's JSON; None for an empty one. Raises a Fault for every other outcome."""
    return parse_reply(send(method, url, headers, body, query, seconds))


def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: Any = None,
    query: Mapping[str, Any] | None = None,
    seconds: float = safe_http.SECONDS,
) -> safe_http.Reply:
    """Fetch a reply of the status 200 to 299. Raises a Fault for every other outcome."""
    renew_lease()
    address = f"{url}?{urlencode(query, doseq=True)}" if query else url
    content = None if body is None else json.dumps(body).encode()
    sent = {"User-Agent": "CrowdSelect", "Accept": "application/json", **headers}
    if content is not None:
        sent["Content-Type"] = "application/json"
    longest = USUAL_REPLY if seconds <= safe_http.SECONDS else LONGEST_REPLY
    try:
        reply = safe_http.send_request(method, address, content, sent, SETTING, longest, seconds)
    except safe_http.NoAnswer as error:
        raise Outage(str(error)) from error
    if not reply.good:
        raise fault_of(reply)
    if reply.cut:
        raise Rejected(f"The reply is longer than {longest // MB} MB.", reply.code)
    return reply


def parse_reply(reply: safe_http.Reply) -> Any:
    """Parse the JSON of a reply. Raises Outage if it is none, as of a proxy's page."""
    if not reply.said.strip():
        return None
    if sum(map(reply.said.count, ",[{")) > MOST_VALUES:
        raise Rejected(f"The reply has more than {MOST_VALUES:,} values.", reply.code)
    try:
        return parse_json(reply.said, LONGEST_REPLY)
    except ValueError as error:
        raise Outage(f"The reply is not JSON: {_shorten(reply.said)}", reply.code) from error


def fault_of(reply: safe_http.Reply) -> Fault:
    code, text = reply.code, f"It answered {reply.code}: {describe_error(reply.said)}"
    if code in BUSY or code >= 500:
        return Outage(text, code, safe_http.parse_duration(reply.headers.get("retry-after", "")))
    if code in {401, 403}:
        return Denied(text, code)
    if 300 <= code < 400:
        return Denied(
            f"It leads on to {reply.headers.get('location', 'another address')[:100]}; "
            "enter that address.",
            code,
        )
    if code in {404, 410}:
        return Missing(text, code)
    return Rejected(text, code)


def describe_error(text: str) -> str:
    if text.lstrip().startswith("<"):
        return "a web page"
    try:
        document = parse_json(text)
    except ValueError:
        return _shorten(text)
    content = document if isinstance(document, dict) else {}
    parts = [content.get(name) for name in ("detail", "message", "error", "validation_errors")]
    return _shorten("; ".join(str(part) for part in parts if part) or text)


def _shorten(text: str) -> str:
    return clean_text(" ".join(text.split()), LONGEST_TEXT) or "nothing"
