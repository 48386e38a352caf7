"""Read any file as a table: its content, rather than its name, tells the format."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import chain
from typing import Any

from selection.errors import Refused
from selection.limits import MOST_OF_THE_PAST, MOST_ROWS
from selection.outside_text import estimate_memory
from selection.texts import counted

from . import csv_dialect, header_row
from .archives import PACKED
from .encoding import check_encoding, encoding_of
from .json_lines import flatten_object, join_texts
from .limits import Faults, Row, bound_lines, check_lines
from .reader_process import open_apart
from .result_formats import Format, recognise_format
from .results import Choice, Objects, Picked
from .structured import PARQUET, Opened, arrange_table, open_lines
from .workbooks import OLD_EXCEL

# First bytes of files that people mistake for tables.
_OTHERS = {
    b"%PDF": "a PDF document; export the table as CSV",
    b"\x89PNG": "a picture; choose the table",
    b"\xff\xd8\xff": "a picture; choose the table",
    b"GIF8": "a picture; choose the table",
    b"\x1f\x8b": "a packed file; unpack it first",
    b"7z\xbc\xaf": "a packed file; unpack it first",
    b"SQLite format 3": "a database; export the table as CSV",
    b"{\\rtf": "a document in RTF; save the table as CSV",
}
_APART = (OLD_EXCEL, PACKED, PARQUET)  # first bytes of files that are not text
_SMALL = 32 * 1024 * 1024  # bytes of memory: JSON that takes less needs no process of its own
# Names that pandas and R give to a column without one.
_NO_NAME = re.compile(r"^(Unnamed: ?\d+(_level_\d+)?|\.\.\.\d+)$")
_PAGES = (b"<!doctype", b"<html", b"<table", b"<?xml")


@dataclass
class Table:
    """A table of texts.

    what      the format of the file, in words
    line      first line of its header
    header    its first row, each cell stripped: names of columns, unless it is a list without any
    rows      (line, cells) of those below, as many cells as there are columns; to be read once
    titled    True if something stands above the header
    encoding  of the characters; empty for formats without a choice
    estimate  approximate number of rows
    faults    (line, reason) of the lines that cannot be read, as far as ``rows`` was read
    choices   between several results of a model for a question
    unread    columns of the file that are not read as results
    """

    name: str
    what: str
    line: int
    header: list[str]
    rows: Iterator[Row] = field(repr=False)
    encoding: str = ""
    estimate: int = 0
    titled: bool = False
    faults: Faults = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def hold_results(
        self,
        form: Format,
        objects: Objects,
        between: bool,
        picked: Picked,
        most_rows: int = MOST_OF_THE_PAST,
    ) -> "Table":
        kind, choices, lines = arrange_table(self.what, form, objects, self.name, between, picked)
        rows = check_lines(lines, self.name, most_rows, self.faults)
        _, header = next(rows)
        return replace(
            self, what=kind, header=header, rows=rows, choices=choices or [], titled=False
        )

    def rows_with_header(self) -> Iterator[Row]:
        """Yield the header with the other rows, for a list without a header."""
        yield self.line, self.header
        yield from self.rows


def read_table(
    raw: bytes | str,
    name: str,
    encoding: str = "",
    most_rows: int = MOST_ROWS,
    header: int = 0,
    fits: header_row.Fits | None = None,
    between: bool = False,
    picked: Picked | None = None,
) -> Table:
    """Read the table in these bytes, or in a text that was typed.

    name      the file's, for refusals
    encoding  of its characters; empty: detected
    header    the line that names the columns; 0: the first that ``fits`` among the first rows, or
              simply the first without ``fits``
    between   True if results of models may be scores between 0 and 1
    picked    results of models that were chosen, by the name of the choice

    Rows are read lazily, so an unreadable row is refused when it is reached. Raises Refused, with
    the line.
    """
    raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else bytes(raw)
    _refuse_others(raw, name)
    picked, faults = picked or {}, Faults()
    encoding, (kind, choices, lines) = _open_lines(raw, name, encoding, between, picked)
    checked_lines = check_lines(lines, name, most_rows, faults)
    if choices is not None:
        _, columns = next(checked_lines)
        size = _estimate_rows(raw)
        return Table(name, kind, 1, columns, checked_lines, encoding, size, False, faults, choices)
    if header:
        titled, (line, cells), rest = header_row.use_header(checked_lines, header, name)
    elif fits:
        titled, (line, cells), rest = header_row.find_header(checked_lines, fits)
    else:
        titled, (line, cells), rest = False, next(checked_lines, (0, [])), checked_lines
    if not cells:
        raise Refused(f"{name} is empty; its first line must name the columns.")
    if faults and faults[0][0] < line:  # it may be the header
        raise Refused(f"{name}, line {faults[0][0]}: {faults[0][1]}")
    columns = [_NO_NAME.sub("", cell.strip()) for cell in cells]
    columns, rest = _name_row_numbers(columns, rest)
    _refuse_twice(columns, line, name)
    rows = _pad_rows(rest, len(columns), faults)
    if is_split(columns):
        columns, joined = join_options(columns, list(rows))
        rows = iter(joined)
    table = Table(name, kind, line, columns, rows, encoding, _estimate_rows(raw), titled, faults)
    if form := recognise_format(set(columns)):
        objects = ((line, dict(zip(columns, cells, strict=True)), name) for line, cells in rows)
        return table.hold_results(form, objects, between, picked, most_rows)
    return table


def _name_row_numbers(columns: list[str], rows: Iterator[Row]) -> tuple[list[str], Iterator[Row]]:
    """Add a column without a name if each row begins with a number or name, as R writes them."""
    first, rest = header_row.split_first_rows(rows)
    wider = first and all(len(cells) == len(columns) + 1 and cells[-1] for _, cells in first)
    named = wider and len({cells[0] for _, cells in first}) == len(first) and all(columns)
    numbered = named and (len(first) > 1 or first[0][1][0].strip('"').isdigit())
    return (["", *columns] if numbered else columns), chain(first, rest)


def _refuse_twice(header: list[str], line: int, name: str) -> None:
    names = [cell.casefold() for cell in header if cell]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refused(f"{name}, line {line}: the column “{twice[0]}” is there twice.")


def _refuse_others(raw: bytes, name: str) -> None:
    for sign, description in _OTHERS.items():
        if raw.startswith(sign):
            raise Refused(f"{name} is {description}.")
    if raw[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGES):
        raise Refused(f"{name} is a web page, whatever its name says; export the table as CSV.")


def _open_lines(
    raw: bytes, name: str, encoding: str, between: bool, picked: Picked
) -> tuple[str, Opened]:
    """Open the file; the first value is its encoding."""
    if not raw.startswith(_APART):
        encoding = check_encoding(raw, encoding, name) if encoding else encoding_of(raw, name)
        if not _is_json(raw, encoding):
            dialect = csv_dialect.detect_dialect(raw, encoding)
            lines = bound_lines(csv_dialect.read_lines(raw, dialect, name), name)
            return encoding, (dialect.description, None, lines)
        if estimate_memory(raw) < _SMALL:
            return encoding, open_lines(raw, name, encoding, between, picked)
    elif raw.startswith(PARQUET) and find_spec("arro3") is None:
        raise Refused(
            f"{name} is a Parquet file: install the package arro3-io to read it "
            "(pip install arro3-io), or export the table as CSV."
        )
    else:
        encoding = ""
    way = {"encoding": encoding, "between": between, "picked": {**picked}}
    return encoding, open_apart(raw, name, **way)


def _is_json(raw: bytes, encoding: str) -> bool:
    """Recognise an object or a list of objects; a header in brackets is neither."""
    start = raw[:4000].decode(encoding, "ignore").split(None, 2)[:2]
    first = "".join(start).lstrip("\ufeff")
    return first.startswith(('{"', "[{", "[]", "{}")) or first == "{"


def _pad_rows(lines: Iterator[Row], width: int, faults: Faults) -> Iterator[Row]:
    """Yield each row with a cell for every column; a row with more is a fault."""
    for line, cells in lines:
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) > width:
            values = f"There are {counted(len(cells), 'value')} for {counted(width, 'column')}"
            faults.append((line, f"{values}: put a value with a comma in quotation marks."))
            continue
        yield line, [cell.strip() for cell in cells] + [""] * (width - len(cells))


def _estimate_rows(raw: bytes) -> int:
    """Estimate the rows: lines of a text; 20 bytes a row in a packed workbook, 100 in old ones."""
    if raw.startswith(OLD_EXCEL):
        return len(raw) // 100
    return len(raw) // 20 if raw.startswith(b"PK") else raw.count(b"\n") + raw.count(b"\r\0")


# -- options as columns


_ANSWERS = re.compile("answer\\.task-?answers", re.I)
_PART = re.compile(r"(Answer\..+)\.([^.]+)")
_TRUE, _FALSE = ("true", "on", "1"), ("false", "off", "0", "")
_LABELS = ("label", "labels", "on")  # parts that are a whole answer


def is_split(header: Sequence[str]) -> bool:
    return any(_ANSWERS.fullmatch(column) or _PART.fullmatch(column) for column in header)


def join_options(header: list[str], rows: list[Row]) -> tuple[list[str], list[Row]]:
    """Join the ticked options of each answer in one column, in header and rows.

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
