"""Cells of gold questions and of answers: lists of choices, letters, ticks, numbers with a gap."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from selection.errors import Refused
from selection.grading import numbers, rules
from selection.grading.rules import Grading

from .key_readings import BITS

BAR = (
    "A | separates several answers or choices, and “{value}” does not look like several: write a "
    'list in JSON if a text has a | itself, as in ["{value}"].'
)
# Marks of a missing value in spreadsheets, pandas, R, SQL and surveys.
_MISSING = re.compile(
    r"#?N/?A|n/a|n\.a\.|<NA>|NaN|nan|NaT|#?NULL!?|null|None|none|-{1,3}|[–—.]|\(?(?:blank|missing|leer)\)?|"
    r"k\.\s?A\.|keine Angabe|sans réponse|s/d|sin datos|yok|"
    r"#(?:REF|DIV/0|VALUE|NAME\?|NUM|NV|BEZUG|WERT|ZAHL|NOM\?|NOMBRE\?|¡REF|¡VALOR|¿NOMBRE\?|VALEUR|"
    r"SPILL|CALC|YOK|DEĞER|BAŞV|AD\?)!?"
)
_TICKS = BITS | dict.fromkeys(("on", "x", "✓", "✔", "checked", "ticked", "selected"), "1")
_TICKS |= dict.fromkeys(("off", "unchecked", "unticked", "not selected", "nicht gewählt"), "0")
_SPAN = {"start", "end", "start_offset", "end_offset", "labels", "points", "rle"}
_BETWEEN_TICKS, _SPACES = re.compile(r"([,;/+&\t\n])"), re.compile(r"(\s+)")
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_SOLUTION = "####"  # GSM8K's mark before the answer
_EXPECTED = re.compile(r"(equals|is-json|[a-z]+(?:-[a-z]+)*):\s*(.*)", re.S)
_ASSERTION = re.compile(
    r"(not-)?(equals|i?contains|regex|javascript|python|similar|llm-rubric|factuality|is-json)"
    r"(-all|-any)?:"
)


def split_values(value: str) -> list[str]:
    """Split a cell into values: a list in JSON or Python, or texts separated by |."""
    listed = _read_list(value)
    if isinstance(listed, list):
        return [text for text in map(_entry_text, listed) if text]
    parts = [part.strip() for part in value.split(rules.SEPARATOR)]
    apart = all(parts) and (not _is_balanced(value) or all(map(_is_balanced, parts)))
    if len(parts) > 1 and not apart:
        raise Refused(BAR.format(value=value))
    return [part for part in parts if part]


def _read_list(value: str) -> Any:
    """Read a list, or an object, in JSON or Python; None for other texts."""
    if value[:1] + value[-1:] not in ("[]", "{}"):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            listed = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return listed if isinstance(listed, list | dict) else None
    return None


def _entry_text(entry: Any) -> str:
    """Read an entry of a list; of an object with a text, a message or an assertion, that."""
    if isinstance(entry, dict) and not entry.keys() & _SPAN:
        named = (entry[name] for name in ("text", "content", "value") if name in entry)
        return _entry_text(next(named, ""))
    if isinstance(entry, dict | list):
        raise Refused(
            "There are marked parts of a text (spans, as in doccano or Prodigy), which cannot be "
            "compared with a key: only choices, texts and numbers can."
        )
    if entry is None:
        return ""
    if isinstance(entry, bool):
        return "true" if entry else "false"
    return str(entry).strip()


def _is_balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def is_missing(text: str) -> bool:
    """Tell if the cell stands for a missing value, as #N/A and NaN do."""
    return not text or _MISSING.fullmatch(text.strip()) is not None


def is_unticked(cell: str, choice: str) -> bool:
    """Tell if the cell of a choice's own column says that it was not ticked."""
    word = cell.strip().casefold()
    tick = "1" if word == choice.casefold() else "0" if is_missing(cell) else _TICKS.get(word)
    if tick is None:
        raise Refused(f"“{cell}” says neither that “{choice}” is ticked nor that it is not.")
    return tick == "0"


def read_prompt(value: str) -> str:
    messages = read_messages(value)
    return "\n\n".join(map(_entry_text, messages)) if messages else value


def read_messages(value: str) -> list[Any]:
    """Read the messages of a conversation; empty if the cell is none."""
    return (_read_list(value) or []) if value.startswith("[{") else []


def read_slots(cell: str) -> tuple[list[str], list[str]]:
    """Read the choices, with empty texts in the places of absent ones, and their labels."""
    listed = _read_list(cell)
    if isinstance(listed, dict):
        texts, labels = listed.get("text"), listed.get("label")
        if not isinstance(texts, list) or not isinstance(labels, list):
            texts, labels = [*listed.values()], [*listed]
        return [*map(_entry_text, texts)], [*map(str, labels)]
    if listed is None:
        return split_values(cell), []
    labels = [e.get("label", e.get("id", "")) for e in listed if isinstance(e, dict)]
    return [*map(_entry_text, listed)], [str(label) for label in labels]


# -- the correct answer


def read_accepted(value: str) -> tuple[list[str], str]:
    """Read the accepted answers, and the kind that the cell's form shows. Raises Refused."""
    if solution := value.partition(_SOLUTION)[2].strip():
        number = solution.replace(",", "")
        known = numbers.parse_number(number) is not None
        return [number if known else solution], "number" if known else ""
    listed = _read_list(value)
    listed = listed if isinstance(listed, list) else []
    types = {str(e.get("type", "")) for e in listed if isinstance(e, dict)} - {"", "equals"}
    expected = _EXPECTED.fullmatch(value) if _ASSERTION.match(value) else None
    types |= {expected[1]} - {"equals"} if expected else set()
    if types:
        raise Refused(f"An assertion “{min(types)}” is no known answer; only “equals” is.")
    return ([expected[2].strip()] if expected else split_values(value)), ""


# -- responses


def fit_response(response: str, choices: Sequence[str], grading: Grading) -> str:
    """Rewrite a response as this program does, if the question allows that.

    Forms put commas or ends of lines between ticks, Label Studio writes an object, tables write .0.
    """
    if response.startswith(("{", "[")):
        response = _join_listed(response)
    if not choices or rules.is_possible_answer(choices, response, grading):
        return response
    candidates = [whole_number(response)]
    if grading.get("multiple") or grading.get("order"):
        ways = list(_split_ticks(response.strip().rstrip(",;"), choices, grading))
        candidates += [f" {rules.SEPARATOR} ".join(way) for way in ways] if len(ways) == 1 else []
    fitting = (c for c in candidates if rules.is_possible_answer(choices, c, grading))
    return next(fitting, response)


def whole_number(text: str) -> str:
    match = _WHOLE.fullmatch(text.strip())
    return match[1] if match else text


def _join_listed(response: str) -> str:
    try:
        value = json.loads(response)
    except (ValueError, RecursionError):
        return response
    listed = value.get("choices") if isinstance(value, dict) and len(value) == 1 else value
    if isinstance(listed, list) and all(isinstance(entry, str) for entry in listed):
        return f" {rules.SEPARATOR} ".join(listed)
    return response


def _split_ticks(text: str, choices: Sequence[str], grading: Grading) -> Iterator[list[str]]:
    """Yield each way to read the text as choices with commas or the like between."""
    mark = _BETWEEN_TICKS if _BETWEEN_TICKS.search(text) else _SPACES
    parts = mark.split(text)
    longest = max(len(mark.split(choice)) for choice in choices)  # a choice may have marks itself
    if len(parts) > (longest + 1) * (len(choices) + 1):
        return
    stack: list[tuple[int, list[str]]] = [(0, [])]
    for _ in range(1000):
        if not stack:
            return
        start, ticked = stack.pop()
        if start >= len(parts):
            yield ticked
        for end in range(start + 1, min(len(parts), start + longest) + 1, 2):
            tick = "".join(parts[start:end])
            if rules.is_match(choices, tick, {**grading, "multiple": False, "order": False}):
                stack.append((end + 1, [*ticked, tick.strip()]))
