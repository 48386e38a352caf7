"""JSON: a list of objects, or one object a line; each becomes a row, of Label Studio's several."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from selection.errors import Refused

from . import label_studio
from .limits import Line

Object = dict[str, Any]

# The columns are those that one of the first objects has.
_HEADER_FROM = 1000
_DEEPEST = 4
_SPACE = re.compile(r"[\s,]*")
# Numbers stay as they are written: 1.50 is no 1.5 where it is somebody's name for something.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def read_lines(text: str, name: str) -> tuple[str, Iterator[Line]]:
    """What it is, in words; the header, then a row for each object. Raises Refused."""
    known = label_studio.read_choices(text)
    what = f"JSON; {known.said}" if known else "JSON"
    return what, _read_object_lines(text, name, known)


def _read_object_lines(text: str, name: str, known: label_studio.Choices | None) -> Iterator[Line]:
    rows = _object_rows(text, name, known)
    first = list(islice(rows, _HEADER_FROM))
    columns = list(dict.fromkeys(column for _, row in first for column in row))
    if not columns:
        return
    yield 1, columns
    there = set(columns)
    for line, row in chain(first, rows):
        strange = next((column for column in row if column not in there), None)
        if strange is not None:
            raise Refused(
                f"{name}, line {line}: there is a “{strange}” that none of the first "
                f"{_HEADER_FROM:,} objects has; give all objects the same names."
            )
        yield line, [row.get(column, "") for column in columns]


def _object_rows(
    text: str, name: str, known: label_studio.Choices | None
) -> Iterator[tuple[int, dict[str, str]]]:
    for line, found in _read_objects(text, name):
        try:
            if not isinstance(found, dict):
                raise Refused(
                    f"{name}, line {line}: a list of objects is read, as in [{{…}}, {{…}}]."
                )
            for each in _annotation_rows(found, known) if _is_label_studio(found) else [found]:
                yield line, flatten_object(each)
        except RecursionError:
            raise _too_deep(name, line) from None


def _read_objects(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """(line it begins in, value) of the values of a list, or of those that follow each other."""
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    listed = text.startswith("[", at)
    at += listed
    line, counted = 1, 0
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, at), at
        if at >= len(text) or (listed and text[at] == "]"):
            break
        try:
            found, at = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise _too_deep(name, line) from None
        except ValueError as error:
            raise Refused(f"{name}, line {line}: this is not JSON that can be read.") from error
        yield line, found
    if listed and text[at : at + 1] != "]":
        raise Refused(f"{name} breaks off: its list is not closed. Export or upload it again.")


def _too_deep(name: str, line: int) -> Refused:
    return Refused(f"{name}, line {line}: there are too many objects within objects.")


def flatten_object(found: Object, before: str = "", depth: int = 0) -> dict[str, str]:
    """Texts by name; what is within something is called as in "data.text"."""
    cells: dict[str, str] = {}
    for key, value in found.items():
        name = f"{before}{key}"
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
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " | ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- Label Studio: tasks with annotations, each by somebody, each with results


def _is_label_studio(found: Object) -> bool:
    return isinstance(found.get("annotations"), list) and "data" in found


def _annotation_rows(task: Object, known: label_studio.Choices | None) -> Iterator[Object]:
    """A row for each annotation that was not cancelled."""
    further: Object = {}
    if known:
        further["choices"] = f" {label_studio.BETWEEN} ".join(known.labels)
        further |= {"kind": "multiple"} if known.several else {}
    for annotation in task["annotations"]:
        if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
            yield {
                "task": task.get("id"),
                "data": task["data"],
                "completed_by": _annotator_key(annotation.get("completed_by")),
                "label": _chosen_label(annotation.get("result")),
                "ground_truth": bool(annotation.get("ground_truth")),
                **further,
            }


def _annotator_key(by: Any) -> Any:
    """By number, or by e-mail address where the export tells it."""
    return by.get("email") or by.get("id") if isinstance(by, dict) else by


def _chosen_label(results: Any) -> str:
    """What was chosen, written or rated; several with bars between."""
    if not isinstance(results, list):
        return ""
    values = [one.get("value") for one in results if isinstance(one, dict)]
    found = [_value_text(value) for value in values if isinstance(value, dict)]
    return " | ".join(text for text in found if text)


def _value_text(value: Object) -> str:
    for kind in ("choices", "text", "number", "rating", "labels", "taxonomy"):
        if kind in value:
            said: Any = value[kind]
            parts: Sequence[Any] = said if isinstance(said, list) else [said]
            return " | ".join(map(_cell_text, parts))
    return ""
