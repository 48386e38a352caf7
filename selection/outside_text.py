"""Text and JSON from outside: other machines, files, requests. Every door cleans them here."""

import json
import re
from typing import Any

from selection.limits import LONGEST_JSON, LONGEST_TEXT

UNITS = {bytes: "bytes", str: "characters"}
DEEPEST_JSON = 100  # lists and objects within each other
MOST_MEMORY = 128 * 1024 * 1024  # bytes that the values of a document may take, as estimated
# The beginning of what a spreadsheet computes, perhaps after apostrophes. Some take wide signs for
# the plain ones, and skip invisible ones before them.
FORMULA = (
    r"'*[\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
    r"[=+\-@\t\r＝﹦＋﹢－﹣＠﹫]"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL and lone surrogates: no database stores them


def clean_text(text: str, limit: int = LONGEST_TEXT) -> str:
    """Keep the first characters of the text, each storable: U+FFFD replaces the others."""
    return _UNSTORABLE.sub("\ufffd", text[:limit])


def clean_line(text: str) -> str:
    """Clean a name: one line without control characters and surplus spaces."""
    return " ".join(clean_text(_CONTROL.sub(" ", text), len(text)).split())


def parse_json(raw: bytes | str, most: int = LONGEST_JSON) -> Any:
    """Parse the document and clean its texts. NaN and repeated names are tolerated.

    Raises ValueError if it is invalid, longer than ``most``, nested too deeply, or has too many
    values.
    """
    if len(raw) > most:
        raise ValueError(f"it has more than {most:,} {UNITS[type(raw)]}")
    refuse_many_values(raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace"))
    try:
        return _clean_value(json.loads(raw, strict=False), DEEPEST_JSON)
    except RecursionError:
        raise _too_deep() from None


def estimate_memory(document: bytes) -> int:
    """Estimate how many bytes the values of the JSON take: 3 bytes of it may take 70."""
    lists = document.count(b"{") + document.count(b"[")
    return len(document) + 240 * lists + 40 * document.count(b",")


def refuse_many_values(document: bytes) -> None:
    if estimate_memory(document) > MOST_MEMORY:
        raise ValueError("it has too many values")


def clean_document(document: Any) -> Any:
    """Clean the texts of a parsed document. Raises ValueError if it is nested too deeply."""
    return _clean_value(document, DEEPEST_JSON)


def _clean_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clean_text(value, len(value))
    if not isinstance(value, list | dict):
        return value
    if depth == 0:
        raise _too_deep()
    if isinstance(value, list):
        return [_clean_value(part, depth - 1) for part in value]
    return {
        clean_text(name, len(name)): _clean_value(part, depth - 1) for name, part in value.items()
    }


def _too_deep() -> ValueError:
    return ValueError(f"it has more than {DEEPEST_JSON} lists and objects within each other")
