"""Tables as bytes, piece by piece: CSV, plain lines, JSON and workbooks.

No cell of text is a formula in any of them (``defuse_formula``), and ``imports`` reads
the original values.
"""

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import IO, Any, NamedTuple

from django.core.serializers.json import DjangoJSONEncoder
from xlsxwriter import Workbook

from selection import viewer_locale
from selection.outside_text import FORMULA

# The byte-order mark tells spreadsheets that a CSV file is UTF-8. Platforms would take it as a part
# of the first column's name.
MARK = "\ufeff"
# Text that a spreadsheet would compute instead of showing. An apostrophe before it makes it text.
_COMPUTED = re.compile(FORMULA)
ROWS, BYTES = 500, 65_536
# Longest text of a workbook's cell, and the largest whole number that it holds exactly.
LONGEST, LARGEST = 32_767, 2**53
NARROWEST, WIDEST = 11, 60
# Characters that XML cannot represent.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class CsvStyle(NamedTuple):
    """Marks of a CSV file. Spreadsheets expect those of their language."""

    delimiter: str
    decimal: str


COMMA, SEMICOLON = CsvStyle(",", "."), CsvStyle(";", ",")
STYLES = {"comma": COMMA, "semicolon": SEMICOLON}


def choose_style(name: str = "") -> CsvStyle:
    return STYLES.get(name) or (SEMICOLON if viewer_locale.decimal_mark() == "," else COMMA)


@dataclass(frozen=True)
class ExportTable:
    """A table to export.

    rows   of cells, as many as there are columns; may be an iterator, which is read once
    title  of its sheet in a workbook
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    title: str = ""


def format_time(at: datetime | None) -> str:
    return at.isoformat(" ", "seconds") if at else ""


def defuse_formula(value: Any) -> Any:
    """Make a cell for export in which no text is a formula. Numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and _COMPUTED.match(value) else value


def defuse_for_program(cell: Any) -> Any:
    """Make a cell of a file that a program reads: a number written as text is not a formula."""
    return cell if isinstance(cell, str) and _NUMBER.fullmatch(cell) else defuse_formula(cell)


def csv_file(
    table: ExportTable,
    safe: Callable[[Any], Any] = defuse_formula,
    mark: str = MARK,
    style: CsvStyle = COMMA,
) -> Iterator[bytes]:
    return _csv_lines(chain([table.columns], table.rows), safe, mark, style)


def program_csv(table: ExportTable) -> Iterator[bytes]:
    """Yield the table for a program or a platform, without a mark before its first column."""
    return csv_file(table, defuse_for_program, "")


def plain_lines(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield the rows without a header, as platforms take lists of ids."""
    return _csv_lines(rows, defuse_for_program, "")


def _csv_lines(
    rows: Iterable[Sequence[Any]], safe: Callable[[Any], Any], mark: str, style: CsvStyle = COMMA
) -> Iterator[bytes]:
    text = io.StringIO()
    text.write(mark)
    writer = csv.writer(text, delimiter=style.delimiter)
    for number, row in enumerate(rows, 1):
        writer.writerow(_mark_decimals(safe(cell), style.decimal) for cell in row)
        if number % ROWS == 0:
            yield _take_written(text)
    yield _take_written(text)


def _mark_decimals(cell: Any, decimal: str) -> Any:
    is_fraction = isinstance(cell, (float, Decimal)) and decimal != "."
    return str(cell).replace(".", decimal) if is_fraction else cell


def _take_written(text: io.StringIO) -> bytes:
    written = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return written


# -- JSON


def json_text(document: Any, indent: int | None = 2) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False, cls=DjangoJSONEncoder)


def json_file(facts: dict[str, Any], name: str, rows: Iterable[Any]) -> Iterator[bytes]:
    """Yield the facts as an object whose last entry, of this name, is the list of the rows."""
    head = json_text(facts).removesuffix("\n}")
    yield f'{head},\n  "{name}": [\n    '.encode()
    for number, row in enumerate(rows):
        yield ((",\n    " if number else "") + json_text(row, None)).encode()
    yield b"\n  ]\n}\n"


# -- workbooks


def write_workbook(tables: Iterable[ExportTable]) -> Iterator[bytes]:
    """Yield a workbook with a sheet for each table; rows wait on the disk, not in memory."""
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
    """Make a value that a workbook can hold: no formula, control character or rounded number.

    Text is cut at the longest that a cell can hold.
    """
    if isinstance(value, str):
        text = _CONTROL.sub("\ufffd", defuse_formula(value))
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if isinstance(value, int) and abs(value) > LARGEST:
        return str(value)
    return value


def _file_pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(BYTES):
            yield piece
