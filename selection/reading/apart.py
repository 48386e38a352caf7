"""Run by itself: reads a workbook of old Excel or OpenDocument from standard input.

Its library keeps a sheet whole and believes what the file says of its size. So it has a process
of its own, which may take so much memory and time, and whose death is a refusal like any other.
Nothing else of the project is imported here.

Writes lines of JSON: the sheet's title, then [number, cells] of each row that is not empty.
"""

import io
import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

MOST_MEMORY = 1024**3  # bytes of addresses; 65,536 rows of five cells take a tenth of it
MOST_SECONDS = 30  # of a processor
# As many characters as tell whoever reads this that a row is too long.
LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS = 100_001, 1_000_001, 1_001


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    book = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    for about in book.sheets_metadata:
        if about.typ != SheetTypeEnum.WorkSheet or about.visible != SheetVisibleEnum.Visible:
            continue
        rows = _rows(book, about.name)
        first = next(rows, None)
        if first is not None:
            _write(about.name)
            _write(first)
            for row in rows:
                _write(row)
            return


def _rows(book: CalamineWorkbook, title: str) -> Iterator[tuple[int, list[str]]]:
    sheet = book.get_sheet_by_name(title)
    if sheet.start is None:
        return
    for line, row in enumerate(sheet.iter_rows(), 1):
        cells = _cut(row)
        if any(cell.strip() for cell in cells):
            yield line, cells


def _cut(row: list[Any]) -> list[str]:
    cells: list[str] = []
    size = 0
    for value in row[:MOST_COLUMNS]:
        cells.append(_text(value)[:LONGEST_CELL])
        size += len(cells[-1])
        if size > LONGEST_ROW:
            break
    return cells


def _text(value: Any) -> str:
    """As a person sees it, and as sheets of today's Excel are read: 3 and not 3.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 1e15
        return str(int(value)) if whole else f"{value:.15g}"
    return str(value)


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stderr.close()
