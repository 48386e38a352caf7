"""Tables as bytes, piece by piece: CSV, plain lines, JSON and workbooks.

No cell of text is a formula in any of them (``files.defused``), and what ``intake`` reads of them
is as it was.
"""

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

from django.core.serializers.json import DjangoJSONEncoder
from xlsxwriter import Workbook

from selection.imports import row_parsers

# The byte-order mark tells spreadsheets that a CSV file is UTF-8. Platforms would take it as a part
# of the first column's name.
MARK = "\ufeff"
ROWS, BYTES = 500, 65_536
# What a cell of a workbook can hold, and the whole numbers that it holds exactly.
LONGEST, LARGEST = 32_767, 2**53
NARROWEST, WIDEST = 11, 60
# What XML has no way to say.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


@dataclass(frozen=True)
class ExportTable:
    """rows   of cells, as many as there are columns; they may be made as they are read, once
    title  of its sheet in a workbook
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    title: str = ""


def defuse_for_program(cell: Any) -> Any:
    """A cell of a file that a program reads: a number written as text is none of a formula."""
    return (
        cell
        if isinstance(cell, str) and _NUMBER.fullmatch(cell)
        else row_parsers.defuse_formula(cell)
    )


def csv_file(
    table: ExportTable, safe: Callable[[Any], Any] = row_parsers.defuse_formula, mark: str = MARK
) -> Iterator[bytes]:
    """With its header."""
    return _csv_lines(chain([table.columns], table.rows), safe, mark)


def program_csv(table: ExportTable) -> Iterator[bytes]:
    """For a program or a platform: no mark before its first column."""
    return csv_file(table, defuse_for_program, "")


def plain_lines(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Without any header, as lists of ids are taken."""
    return _csv_lines(rows, defuse_for_program, "")


def _csv_lines(
    rows: Iterable[Sequence[Any]], safe: Callable[[Any], Any], mark: str
) -> Iterator[bytes]:
    text = io.StringIO()
    text.write(mark)
    writer = csv.writer(text)
    for number, row in enumerate(rows, 1):
        writer.writerow(map(safe, row))
        if number % ROWS == 0:
            yield _take_written(text)
    yield _take_written(text)


def _take_written(text: io.StringIO) -> bytes:
    """What was written since the last time."""
    found = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return found


# -- JSON


def json_text(document: Any, indent: int | None = 2) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False, cls=DjangoJSONEncoder)


def json_list(rows: Iterable[Any]) -> Iterator[bytes]:
    """A list, an object to a line."""
    return _join_rows("[\n  ", rows, "\n]\n", ",\n  ")


def json_file(facts: dict[str, Any], name: str, rows: Iterable[Any]) -> Iterator[bytes]:
    """The facts as an object whose last entry, of this name, is the list of the rows."""
    head = json_text(facts).removesuffix("\n}")
    return _join_rows(f'{head},\n  "{name}": [\n    ', rows, "\n  ]\n}\n", ",\n    ")


def _join_rows(head: str, rows: Iterable[Any], foot: str, between: str) -> Iterator[bytes]:
    yield head.encode()
    for number, row in enumerate(rows):
        yield ((between if number else "") + json_text(row, None)).encode()
    yield foot.encode()


# -- workbooks


def write_workbook(tables: Iterable[ExportTable]) -> Iterator[bytes]:
    """A sheet for each; rows wait on the disk until all are written, never in memory."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed when all of it is read)
    with Workbook(file, {"constant_memory": True}) as book:
        bold = book.add_format({"bold": True})
        for table in tables:
            _write_sheet(book.add_worksheet(table.title), table, bold)
    file.seek(0)
    return _file_pieces(file)


def _write_sheet(sheet: Any, table: ExportTable, bold: Any) -> None:
    sheet.freeze_panes(1, 0)
    for column, name in enumerate(table.columns):
        sheet.set_column(column, column, min(WIDEST, max(NARROWEST, len(name) + 2)))
        sheet.write_string(0, column, cell_of(name), bold)
    for number, row in enumerate(table.rows, 1):
        for column, value in enumerate(map(cell_of, row)):
            if isinstance(value, str):
                sheet.write_string(number, column, value)
            elif value is not None:
                sheet.write_number(number, column, value)


def cell_of(value: Any) -> Any:
    """As a workbook can hold it: no formula, no control character, no number that it would round.

    Text is cut where a cell ends.
    """
    if isinstance(value, str):
        text = _CONTROL.sub("\ufffd", row_parsers.defuse_formula(value))
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if isinstance(value, int) and abs(value) > LARGEST:
        return str(value)
    return value


def _file_pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(BYTES):
            yield piece
