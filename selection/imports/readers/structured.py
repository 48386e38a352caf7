"""Read every kind of file but plain text with delimiters: workbooks, archives, Parquet and JSON.

A small file of these kinds may hold values without end, so ``reader_process`` runs this.
"""

import io
import json
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from typing import Any

from . import label_studio, workbooks
from .archives import PACKED, Archive, open_results
from .json_lines import arrange_objects, read_objects
from .limits import Line, bound_lines
from .result_formats import Format, recognise_format
from .results import Choice, Objects, Picked, arrange_results, read_results

PARQUET = b"PAR1"
_BATCH = 1000  # rows
# The kind of file in words, the choices of a file with results of models, and the header and rows.
Opened = tuple[str, list[Choice] | None, Iterator[Line]]


def open_lines(raw: bytes, name: str, encoding: str, between: bool, picked: Picked) -> Opened:
    """Open a file; its lines are read lazily. Raises Refused."""
    archive = Archive(raw, name) if raw.startswith(PACKED) else None
    if program := workbooks.find_program(raw, archive.names if archive else ()):
        title, lines = workbooks.read_sheet(raw, name)
        kind = f"{program} workbook, sheet “{title}”"
        kind += "" if program == "Excel" else "; numbers as stored, for example 5% as 0.05"
        return kind, None, bound_lines(lines, name)
    if archive:
        form, objects = open_results(archive)
        return arrange_table("packed files", form, objects, name, between, picked)
    if raw.startswith(PARQUET):
        values: Iterator[tuple[int, Any]] = enumerate(_read_parquet(raw), 1)
        kind, choices = "Parquet", None
    else:
        text = raw.decode(encoding, "replace")
        choices, values = label_studio.read_choices(text), read_objects(text, name)
        kind = f"JSON; {choices.description}" if choices else "JSON"
    first = next(values, None)
    every: Iterator[Any] = values if first is None else chain([first], values)
    known = recognise_format(set(first[1])) if first and isinstance(first[1], dict) else None
    if known:
        objects = ((line, value, name) for line, value in every)
        return arrange_table(kind, known, objects, name, between, picked)
    return kind, None, bound_lines(arrange_objects(every, name, choices), name)


def arrange_table(
    kind: str, form: Format, objects: Objects, name: str, between: bool, picked: Picked
) -> Opened:
    """Arrange results of models as a table."""
    results = read_results(form, objects, name, picked)
    lines = bound_lines(arrange_results(results, between), name)
    return f"{kind}; {results.description}", results.choices, lines


def _read_parquet(raw: bytes) -> Iterator[dict[str, Any]]:
    reader = import_module("arro3.io")  # an optional package
    for batch in reader.read_parquet(io.BytesIO(raw), batch_size=_BATCH):
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            named = dict(zip(batch.column_names, row, strict=True))
            yield json.loads(json.dumps(named, default=str))  # days and bytes as texts
