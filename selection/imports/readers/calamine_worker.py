"""Process of its own that reads a workbook (.xlsx, .xls, .ods) from standard input.

python-calamine keeps a sheet whole and believes the size that the file declares. So it runs in a
process of its own with limited memory and time; if that process dies, the file is refused. No other
module of the project is imported here.

Writes lines of JSON: the sheet's title, then [number, cells] of each row that is not empty, or
{"line": number, "refused": reason} in its place.
"""

import io
import json
import resource
import sys
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

MOST_MEMORY = 1024**3  # bytes of addresses; 200,000 rows of twenty cells take 450 MB
MOST_SECONDS = 30  # of a processor
# One more than the reader accepts (limits.check_lines), so that it refuses a row that is too long.
LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS = 100_001, 1_000_001, 1_001
# Spreadsheets keep 15 digits, and write 0 for the others: whole numbers are exact below the first
# limit, and ids are shorter than the second.
_EXACT, _LONGEST_ID = 10**15, 1e20


class Inexact(Exception):
    """A whole number with more digits than a float keeps: two ids could become one."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    book = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    for metadata in book.sheets_metadata:
        if metadata.typ != SheetTypeEnum.WorkSheet or metadata.visible != SheetVisibleEnum.Visible:
            continue
        rows = _read_rows(book.get_sheet_by_name(metadata.name))
        first = next(rows, None)
        if first is not None:
            _write_line(metadata.name)
            _write_line(first)
            for row in rows:
                _write_line(row)
            return


def _read_rows(sheet: CalamineSheet) -> Iterator[Any]:
    if sheet.start is None:
        return
    for line, row in enumerate(sheet.iter_rows(), 1):
        try:
            cells = _cells(row)
        except Inexact:
            yield {
                "line": line,
                "refused": "There is a number of more than 15 digits, which spreadsheets do not "
                "keep exactly: save its column as text, and enter it again.",
            }
            continue
        if cells:
            yield line, cells


def _cells(row: list[Any]) -> list[str]:
    while row and isinstance(row[-1], str) and not row[-1].strip():
        row.pop()
    cells: list[str] = []
    size = 0
    for value in row[:MOST_COLUMNS]:
        cells.append(value[:LONGEST_CELL] if isinstance(value, str) else _cell_text(value))
        size += len(cells[-1])
        if size > LONGEST_ROW:
            break
    return cells


def _cell_text(value: Any) -> str:
    """Write the value as a person would type it: 3 rather than 3.0, dates as 2026-11-22."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(float(value))
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, datetime):
        moment = (value + timedelta(microseconds=500_000)).replace(microsecond=0)
        return str(moment if moment.time() != time.min else moment.date())
    if isinstance(value, time):
        return value.replace(microsecond=0).isoformat()
    return str(value)


def _number(number: float) -> str:
    """Write 15 digits, as spreadsheets keep them. Raises Inexact for a whole number with more."""
    if not number.is_integer():
        return f"{number:.15g}"
    if _EXACT <= abs(number) < _LONGEST_ID:
        raise Inexact
    return str(int(number)) if abs(number) < _EXACT else f"{number:.15g}"


def _write_line(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
