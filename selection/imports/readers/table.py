"""Read any file as a table: its content, rather than its name, tells the format."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from selection.errors import Refused
from selection.limits import MOST_ROWS
from selection.texts import counted

from . import csv_dialect, header_row, json_lines, workbooks
from .encoding import check_encoding, encoding_of
from .limits import Line, check_lines

Row = tuple[int, list[str]]

# First bytes of files that people mistake for tables.
_OTHERS = {
    b"PK\x03\x04": "a packed file or another program's document; export the table as CSV",
    b"%PDF": "a PDF document; export the table as CSV",
    b"\x89PNG": "a picture; choose the table",
    b"\xff\xd8\xff": "a picture; choose the table",
    b"GIF8": "a picture; choose the table",
    b"\x1f\x8b": "a packed file; unpack it first",
    b"7z\xbc\xaf": "a packed file; unpack it first",
    b"SQLite format 3": "a database; export the table as CSV",
    b"PAR1": "a Parquet file; export the table as CSV",
    b"{\\rtf": "a document in RTF; save the table as CSV",
}
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
    """

    name: str
    what: str
    line: int
    header: list[str]
    rows: Iterator[Row] = field(repr=False)
    encoding: str = ""
    estimate: int = 0
    titled: bool = False

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
) -> Table:
    """Return the table in these bytes, or in a text that was typed.

    name      the file's, for refusals
    encoding  of its characters; empty: detected
    header    the line that names the columns; 0: the first that ``fits`` among the first rows, or
              simply the first without ``fits``
    between   True if results of models may be scores between 0 and 1

    Rows are read lazily, so an unreadable row is refused when it is reached. Raises Refused, with
    the line.
    """
    raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else bytes(raw)
    _refuse_others(raw, name)
    kind, encoding, lines = _read_lines(raw, name, encoding, between)
    checked_lines = check_lines(lines, name, most_rows)
    if header:
        titled, (line, cells), rest = header_row.use_header(checked_lines, header, name)
    elif fits:
        titled, (line, cells), rest = header_row.find_header(checked_lines, fits)
    else:
        titled, (line, cells), rest = False, next(checked_lines, (0, [])), checked_lines
    if not cells:
        raise Refused(f"{name} is empty; its first line must name the columns.")
    columns = [cell.strip() for cell in cells]
    _refuse_twice(columns, line, name)
    rows = _pad_rows(rest, len(columns), name)
    return Table(name, kind, line, columns, rows, encoding, _estimate_rows(raw), titled)


def _refuse_twice(header: list[str], line: int, name: str) -> None:
    """Raise Refused for columns with the same name, in any letter case."""
    names = [cell.casefold() for cell in header if cell]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refused(f"{name}, line {line}: the column “{twice[0]}” is there twice.")


def _refuse_others(raw: bytes, name: str) -> None:
    for sign, description in _OTHERS.items():
        if raw.startswith(sign) and not (sign[:2] == b"PK" and workbooks.is_workbook(raw)):
            raise Refused(f"{name} is {description}.")
    if raw[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGES):
        raise Refused(f"{name} is a web page, whatever its name says; export the table as CSV.")


def _read_lines(
    raw: bytes, name: str, encoding: str, between: bool
) -> tuple[str, str, Iterator[Line]]:
    """Return (kind of file, its encoding, its lines)."""
    if workbooks.is_workbook(raw):
        kind, lines = workbooks.lines(raw, name)
        return kind, "", lines
    encoding = check_encoding(raw, encoding, name) if encoding else encoding_of(raw, name)
    if _is_json(raw, encoding):
        kind, lines = json_lines.read_lines(raw.decode(encoding), name, between)
        return kind, encoding, lines
    dialect = csv_dialect.detect_dialect(raw, encoding)
    return dialect.description, encoding, csv_dialect.read_lines(raw, dialect, name)


def _is_json(raw: bytes, encoding: str) -> bool:
    """Return True for an object or a list of objects; a header in brackets is neither."""
    start = raw[:4000].decode(encoding, "ignore").split(None, 2)[:2]
    first = "".join(start).lstrip("\ufeff")
    return first.startswith(('{"', "[{", "[]", "{}")) or first == "{"


def _pad_rows(lines: Iterator[Line], width: int, name: str) -> Iterator[Row]:
    """Yield each row with a cell for every column. Raises Refused for a row with more."""
    for line, cells in lines:
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) > width:
            raise Refused(
                f"{name}, line {line}: there are {counted(len(cells), 'value')} for "
                f"{counted(width, 'column')}; "
                "put a value that has a comma in it in quotation marks."
            )
        yield line, [cell.strip() for cell in cells] + [""] * (width - len(cells))


def _estimate_rows(raw: bytes) -> int:
    """Estimate the rows: lines of a text; 20 bytes a row in a packed workbook, 100 in old ones."""
    if raw.startswith(workbooks.OLD_EXCEL):
        return len(raw) // 100
    return len(raw) // 20 if raw.startswith(b"PK") else raw.count(b"\n") + raw.count(b"\r\0")
