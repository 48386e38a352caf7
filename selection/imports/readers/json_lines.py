"""Read JSON, a list of objects or one object a line, as rows.

Label Studio's objects give several rows each.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from selection.errors import Refused

from . import label_studio
from .limits import Fault, Line

Object = dict[str, Any]

# The columns are those that occur in the first objects.
_HEADER_FROM = 1000
_DEEPEST = 4
_VALUES = ("choices", "text", "number", "rating", "taxonomy", "datetime", "selected")
_REGIONS = {"start", "end", "x", "y", "points", "rle", "labels", "ranges"}
# Fields of a table by rows, as pandas and Weights & Biases write it.
_SPLIT = {"columns", "data", "index", "ncols", "nrows", "column_types", "_type"}
_SPACE = re.compile(r"[\s,]*")
_OBJECT = re.compile(r"\n\{")
# Numbers stay as they are written: as an id, 1.50 differs from 1.5.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def arrange_objects(
    objects: Iterator[tuple[int, Object | Fault]], name: str, choices: label_studio.Choices | None
) -> Iterator[Line]:
    """Yield the header, then a row for each object. Raises Refused."""
    return _arrange_rows(_object_rows(objects, name, choices))


def _arrange_rows(rows: Iterator[tuple[int, dict[str, str] | Fault]]) -> Iterator[Line]:
    first = list(islice(rows, _HEADER_FROM))
    objects = [row for _, row in first if not isinstance(row, Fault)]
    columns = list(dict.fromkeys(column for row in objects for column in row))
    if not columns:
        yield from ((line, row) for line, row in first if isinstance(row, Fault))
        return
    yield 1, columns
    names = set(columns)
    for line, row in chain(first, rows):
        if isinstance(row, Fault):
            yield line, row
        elif unknown := next((column for column in row if column not in names), None):
            yield (
                line,
                Fault(
                    f"The field “{unknown}” is not in the first {_HEADER_FROM:,} objects: "
                    "give all objects the same names."
                ),
            )
        else:
            yield line, [row.get(column, "") for column in columns]


def _object_rows(
    objects: Iterator[tuple[int, Object | Fault]], name: str, choices: label_studio.Choices | None
) -> Iterator[tuple[int, dict[str, str] | Fault]]:
    extra: Object = {}
    if choices and choices.labels:
        extra["choices"] = join_texts(choices.labels)
        extra |= {"kind": "multiple"} if choices.several else {}
    for line, value in objects:
        if isinstance(value, Fault):
            yield line, value
            continue
        rows = _annotation_rows(value, choices) if _is_label_studio(value) else [value]
        try:
            for entry in rows:
                yield line, entry if isinstance(entry, Fault) else flatten_object(entry | extra)
        except RecursionError:
            raise _too_deep(name, line) from None


def read_objects(text: str, name: str) -> Iterator[tuple[int, Object | Fault]]:
    for line, value in _read_values(text, name):
        if not isinstance(value, dict | Fault):
            raise Refused(f"{name}, line {line}: a list of objects is read, as in [{{…}}, {{…}}].")
        yield from ((line, entry) for entry in split_columns(value))


def split_columns(value: Any) -> Iterator[Any]:
    """Yield an object for each row if the value holds a table by columns, as pandas writes it."""
    if not isinstance(value, dict):
        yield value
        return
    if {"columns", "data"} <= set(value) <= _SPLIT:
        yield from (dict(zip(value["columns"], row, strict=False)) for row in value["data"])
    elif set(value) <= {"data", "schema"} and isinstance(value.get("data"), list):
        yield from value["data"]
    elif _has_equal_columns(list(value.values())):
        lists = [list(c.values()) if isinstance(c, dict) else c for c in value.values()]
        yield from (dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True))
    else:
        yield value


def _has_equal_columns(columns: list[Any]) -> bool:
    if len(columns) < 2 or not all(columns):
        return False
    if all(isinstance(column, dict) for column in columns):
        return all(list(column) == list(columns[0]) for column in columns) and "0" in columns[0]
    lists = all(isinstance(c, list) and len(c) == len(columns[0]) for c in columns)
    return lists and not any(isinstance(cell, list | dict) for c in columns for cell in c)


def _read_values(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """Yield (line it begins in, value) of the values of a list, or of consecutive values."""
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    listed = text.startswith("[", position)
    position += listed
    line, counted = 1, 0
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, position), position
        if position >= len(text) or (listed and text[position] == "]"):
            break
        try:
            value, position = _DECODER.raw_decode(text, position)
        except RecursionError:
            raise _too_deep(name, line) from None
        except ValueError as error:
            if listed:
                raise Refused(f"{name}, line {line}: the file is not valid JSON.") from error
            following = _OBJECT.search(text, position)
            value = Fault("The line is not valid JSON.")
            position = following.start() + 1 if following else len(text)
        yield line, value
    if listed and text[position : position + 1] != "]":
        raise Refused(f"{name} breaks off: the list is not closed. Export or upload it again.")


def _too_deep(name: str, line: int) -> Refused:
    return Refused(f"{name}, line {line}: there are too many objects within objects.")


def flatten_object(nested: Object, prefix: str = "", depth: int = 0) -> dict[str, str]:
    cells: dict[str, str] = {}
    for key, value in nested.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and depth < _DEEPEST:
            cells |= flatten_object(value, f"{name}.", depth + 1)
        else:
            cells[name] = _cell_text(value)
    return cells


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(entry, str | bool) for entry in value):
        return join_texts([_cell_text(entry) for entry in value])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def join_texts(texts: Sequence[str]) -> str:
    """Join several values in one cell: with bars, or as a list in JSON if one has a bar."""
    barred = any("|" in text or not text for text in texts)
    return json.dumps(texts, ensure_ascii=False) if barred else " | ".join(texts)


# -- Label Studio: tasks with annotations, each with an annotator and results


def _is_label_studio(value: Object) -> bool:
    return isinstance(value.get("annotations"), list) and "data" in value


def _annotation_rows(
    task: Object, choices: label_studio.Choices | None
) -> Iterator[Object | Fault]:
    """Yield a row for each annotation that was not cancelled."""
    for annotation in task["annotations"]:
        skipped = not isinstance(annotation, dict) or annotation.get("was_cancelled")
        if skipped or not annotation.get("result"):
            continue
        try:
            labels = _chosen_labels(annotation["result"])
        except Refused as refusal:
            yield Fault(refusal)
            continue
        control = choices.control if choices else ""
        if len(labels) == 1 and not control:
            labels = {"label": next(iter(labels.values()))}
        yield {
            "task": task.get("id"),
            "data": task["data"],
            "completed_by": _annotator_key(annotation.get("completed_by")),
            **({"label": labels.pop(control, "")} if control else {}),
            **{name if name == "label" else f"label {name}": text for name, text in labels.items()},
            "ground_truth": bool(annotation.get("ground_truth")),
        }


def _annotator_key(annotator: Any) -> Any:
    """Choose the annotator's e-mail address if the export has it, else the number."""
    known = isinstance(annotator, dict)
    return annotator.get("email") or annotator.get("id") if known else annotator


def _chosen_labels(results: Any) -> dict[str, str]:
    """Read, by control, the choice, text or rating; several with bars between. Raises Refused."""
    found: dict[str, list[str]] = {}
    for result in results if isinstance(results, list) else []:
        if isinstance(result, dict) and result.get("type") != "relation":
            control = found.setdefault(str(result.get("from_name", "")), [])
            control += _value_texts(result.get("value"), str(result.get("type")))
    return {control: join_texts(texts) for control, texts in found.items()}


def _value_texts(value: Any, kind: str) -> list[str]:
    content = value if isinstance(value, dict) else {}
    known = [content[name] for name in _VALUES if name in content]
    if not known or content.keys() & _REGIONS:
        raise Refused(
            f"An annotation of the type “{kind}” has parts or places: only choices, texts, numbers "
            "and ratings can be compared with a key."
        )
    entries: Sequence[Any] = known[0] if isinstance(known[0], list) else [known[0]]
    return [_cell_text(entry) for entry in entries]
