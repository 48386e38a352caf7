"""Cells of gold questions and of answers: lists of choices, letters, ticks, numbers with a gap."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import Any

from selection.errors import Refused
from selection.grading import numbers, rules
from selection.grading.rules import Grading

BAR = (
    "A | separates several answers or choices, and “{value}” does not look like several: write a "
    'list in JSON if a text has a | itself, as in ["{value}"].'
)
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_SOLUTION = re.compile(r"####\s*(.+?)\s*$", re.S)  # GSM8K's mark before the answer
_EXPECTED = re.compile(r"(equals|is-json|[a-z]+(?:-[a-z]+)*):\s*(.*)", re.S)


def split_values(value: str) -> list[str]:
    """Split a cell into values: a list in JSON or Python, or texts separated by |."""
    listed = _read_list(value)
    if listed is not None:
        return [text for text in map(_entry_text, listed) if text]
    parts = [part.strip() for part in value.split(rules.SEPARATOR)]
    apart = all(parts) and (not _is_balanced(value) or all(map(_is_balanced, parts)))
    if len(parts) > 1 and not apart:
        raise Refused(BAR.format(value=value))
    return [part for part in parts if part]


def _read_list(value: str) -> list[Any] | None:
    if not (value.startswith("[") and value.endswith("]")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            listed = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return listed if isinstance(listed, list) else None
    return None


def _entry_text(entry: Any) -> str:
    """Read an entry of a list; of an object with a text, a message or an assertion, that."""
    if isinstance(entry, dict):
        named = (entry[name] for name in ("text", "content", "value") if name in entry)
        return _entry_text(next(named, ""))
    if isinstance(entry, bool):
        return "true" if entry else "false"
    return str(entry).strip()


def _is_balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def read_prompt(value: str) -> str:
    messages = _read_list(value) if value.startswith("[{") else None
    return "\n\n".join(map(_entry_text, messages)) if messages else value


def read_labels(value: str, choices: str) -> list[str]:
    if value:
        return split_values(value)
    listed = _read_list(choices) or []
    labels = [entry.get("label") for entry in listed if isinstance(entry, dict)]
    return [str(label) for label in labels if label]


# -- the correct answer


def read_accepted(value: str) -> tuple[list[str], str]:
    """Read the accepted answers, and the kind that the cell's form shows. Raises Refused."""
    if solution := _SOLUTION.search(value):
        number = solution[1].replace(",", "")
        known = numbers.parse_number(number) is not None
        return [number if known else solution[1]], "number" if known else ""
    listed = _read_list(value) or []
    types = {str(e.get("type", "")) for e in listed if isinstance(e, dict)} - {"", "equals"}
    expected = _EXPECTED.fullmatch(value) if _is_assertion(value) else None
    types |= {expected[1]} - {"equals"} if expected else set()
    if types:
        raise Refused(f"An assertion “{min(types)}” is no known answer; only “equals” is.")
    return ([expected[2].strip()] if expected else split_values(value)), ""


def _is_assertion(value: str) -> bool:
    names = "equals|i?contains|regex|javascript|python|similar|llm-rubric|factuality|is-json"
    return re.match(rf"(not-)?({names})(-all|-any)?:", value) is not None


def find_index_base(pairs: Iterable[tuple[str, str]]) -> int | None:
    """Find 0 or 1, by which the answers of a file count the choices; None if unclear.

    pairs  (answer, choices) of each row
    """
    base: int | None = None
    for answer, cell in pairs:
        choices = _read_list(cell) or cell.split(rules.SEPARATOR)
        place = int(answer) if answer.isdecimal() and len(answer) < 4 else -1
        if place == 0:
            return 0
        base = 1 if place == len(choices) > 1 else base
    return base


def choose_accepted(
    accepted: Sequence[str],
    choices: Sequence[str],
    labels: Sequence[str],
    base: int | None,
    grading: Grading,
) -> list[str]:
    """Turn the answers into choices: by text, by their label, by letter or by number."""
    return [_choose(answer, choices, labels, base, grading) for answer in accepted]


def _choose(
    answer: str, choices: Sequence[str], labels: Sequence[str], base: int | None, grading: Grading
) -> str:
    if answer in choices or not choices:
        return answer
    alike = [c for c in choices if rules.is_match([c], answer, grading, choices)]
    if alike:
        return alike[0]
    if answer in labels and len(labels) == len(choices):
        return choices[labels.index(answer)]
    letter = _LETTER.fullmatch(answer)
    place = ascii_uppercase.index(letter[1].upper()) if letter else -1
    if answer.isdecimal() and len(answer) < 4:
        if base is None and 0 < int(answer) < len(choices):
            raise Refused(
                f"“{answer}” may be the choice “{choices[int(answer) - 1]}” or, counted from 0, "
                f"“{choices[int(answer)]}”: write the choice itself, or its letter."
            )
        place = int(answer) - (base or 0)
    return choices[place] if 0 <= place < len(choices) else answer


# -- responses


def fit_response(response: str, choices: Sequence[str], grading: Grading) -> str:
    """Rewrite a response as this program does, if the question allows that.

    Forms put commas between ticks, Label Studio writes an object, and tables .0 after numbers.
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
    """Yield each way to read the text as choices with commas or semicolons between."""
    parts = re.split(r"([,;]\s*)", text)
    stack: list[tuple[int, list[str]]] = [(0, [])]
    for _ in range(1000):
        if not stack:
            return
        start, ticked = stack.pop()
        if start >= len(parts):
            yield ticked
        for end in range(start + 1, len(parts) + 1, 2):
            tick = "".join(parts[start:end])
            if rules.is_match(choices, tick, {**grading, "multiple": False, "order": False}):
                stack.append((end + 1, [*ticked, tick.strip()]))
