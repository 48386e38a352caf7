"""Columns of Mechanical Turk with a part of an answer each: one for each option, or JSON."""

import json
import re
from collections.abc import Sequence
from typing import Any

from .json_lines import flatten_object, join_texts
from .limits import Row

_ANSWERS = re.compile("answer\\.task-?answers", re.I)
_PART = re.compile(r"(Answer\..+)\.([^.]+)")
_TRUE, _FALSE = ("true", "on", "1"), ("false", "off", "0", "")
_LABELS = ("label", "labels", "on")  # parts that are a whole answer


def is_split(header: Sequence[str]) -> bool:
    return any(_ANSWERS.fullmatch(column) or _PART.fullmatch(column) for column in header)


def join_options(header: list[str], rows: list[Row]) -> tuple[list[str], list[Row]]:
    """Return the header and the rows with the ticked options of each answer in one column.

    Columns with other values than true and false stay as they are.
    """
    objects = [(line, _unpack(dict(zip(header, cells, strict=True)))) for line, cells in rows]
    columns = list(dict.fromkeys(name for _, cells in objects for name in cells)) or header
    for name, parts in _group_parts(columns).items():
        values = {cells.get(part, "").lower() for _, cells in objects for part in parts.values()}
        single = len(parts) == 1 and not {*parts} - {*_LABELS}
        if single or (len(parts) > 1 and values <= {*_TRUE, *_FALSE}):
            columns = [column for column in columns if column not in parts.values()] + [name]
            for _, cells in objects:
                cells[name] = next(iter(parts.values())) in cells and _ticked(cells, parts, single)
    return columns, [(line, [cells.get(c) or "" for c in columns]) for line, cells in objects]


def _unpack(cells: dict[str, str]) -> dict[str, Any]:
    """Return the cells with the parts of an answer in JSON as cells of their own."""
    packed = next((name for name in cells if _ANSWERS.fullmatch(name)), "")
    try:
        value = json.loads(cells[packed]) if packed else None
    except (ValueError, RecursionError):
        return cells
    found: dict[str, Any] = {}
    for answer in value if isinstance(value, list) else [value]:
        found |= flatten_object(answer, "Answer.") if isinstance(answer, dict) else {}
    return (
        {name: cell for name, cell in cells.items() if name != packed} | found if found else cells
    )


def _group_parts(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return, by answer, the column of each of its parts."""
    groups: dict[str, dict[str, str]] = {}
    for match in filter(None, map(_PART.fullmatch, columns)):
        groups.setdefault(match[1], {})[match[2]] = match[0]
    boxes = {name: parts["on"] for name, parts in groups.items() if list(parts) == ["on"]}
    if len(boxes) > 1:  # a box for each option
        rest = {name: parts for name, parts in groups.items() if name not in boxes}
        return {"Answer.ticked": {n.removeprefix("Answer."): c for n, c in boxes.items()}, **rest}
    return groups


def _ticked(cells: dict[str, Any], parts: dict[str, str], single: bool) -> str:
    if single:
        return str(cells.get(next(iter(parts.values())), ""))
    return join_texts([o for o, column in parts.items() if cells.get(column, "").lower() in _TRUE])
