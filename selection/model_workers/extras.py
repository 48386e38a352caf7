"""Additions of users to the requests to a model server: parameters, headers, the address."""

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from selection.errors import Refused

KEY_PLACE = "{key}"  # of the API key, in the value of a header or of a part of the address
MOST_NAMES, LONGEST_VALUE, LONGEST_EXTRA_BODY = 20, 1_000, 20_000  # characters
# Parameters of the request that have a setting of their own, or would change what a call costs.
FIXED = {
    "model": "use the setting “model”",
    "messages": "use “prompt” and “template”",
    "max_tokens": "use the setting “max_tokens”",
    "max_completion_tokens": "use the setting “max_completion_tokens”",
    "max_output_tokens": "use the setting “max_tokens”",
    "stream": "it is set if the server needs it",
    "n": "a call has one reply",
    "best_of": "a call has one reply",
}
FIXED_HEADERS = {"host", "content-type", "content-length", "transfer-encoding", "connection"}
SECRET = re.compile(r"authorization|cookie|.*(key|token|secret|password)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def check_body(extra: Any) -> dict[str, Any]:
    """Check further parameters of the request. Raises Refused for others than these."""
    names = _check_names(extra)
    for name in names:
        if name in FIXED:
            raise Refused(f"“{name}” does not belong here: {FIXED[name]}.")
    try:
        text = json.dumps(names, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"The parameters are no JSON: {error}.") from error
    if len(text) > LONGEST_EXTRA_BODY:
        raise Refused(f"The parameters have more than {LONGEST_EXTRA_BODY:,} characters.")
    return names


def check_headers(extra: Any) -> dict[str, str]:
    """Check the headers and turn values into texts. Raises Refused for one that cannot be sent."""
    headers = check_query(extra)
    for name in headers:
        if name.lower() in FIXED_HEADERS:
            raise Refused(f"The header “{name}” cannot be set.")
    return headers


def check_query(extra: Any) -> dict[str, str]:
    """Check the parameters of the address, with values as texts, as ``check_headers``."""
    values = _check_names(extra)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float | date):
            raise Refused(f"The value of “{name}” is no text: put it in quotes.")
        values[name] = text = str(value)
        if not (text.isascii() and text.isprintable()) or len(text) > LONGEST_VALUE:
            raise Refused(
                f"The value of “{name}” has more than {LONGEST_VALUE:,} characters, or others "
                "than ASCII."
            )
        if SECRET.fullmatch(name) and KEY_PLACE not in text:
            raise Refused(
                f"“{name}” looks like a secret, and everybody in the team could read it here. "
                f"Give the secret as the API key, and {KEY_PLACE} here in its place."
            )
    return values


def fill_key(values: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: value.replace(KEY_PLACE, key) for name, value in values.items()}


def _check_names(extra: Any) -> dict[str, Any]:
    if not isinstance(extra or {}, dict):
        raise Refused("Give a mapping from names to values, for example {“top_p”: 0.9}.")
    if len(extra or {}) > MOST_NAMES:
        raise Refused(f"There are at most {MOST_NAMES} names.")
    for name in extra or {}:
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise Refused(f"“{name}” is no name: letters, digits, dots, hyphens and _ only.")
    return dict(extra or {})
