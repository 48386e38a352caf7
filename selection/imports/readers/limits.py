"""Limits on files, so that no file takes unbounded time or memory."""

import re
from collections.abc import Iterable, Iterator, Sequence

from selection.errors import Refused
from selection.limits import LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS
from selection.texts import counted

# Databases do not store NUL or halves of surrogate pairs, and texts do not need them.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")

Line = tuple[int, list[str]]


def check_lines(lines: Iterable[Line], name: str, most_rows: int) -> Iterator[Line]:
    """Yield the same lines. Raises Refused at the first that exceeds a limit."""
    for count, (line, cells) in enumerate(lines):
        if count > most_rows:
            raise Refused(
                f"{name} has more than {most_rows:,} rows: split the file into smaller files."
            )
        _check_line(line, cells, name)
        yield line, cells


def _check_line(line: int, cells: Sequence[str], name: str) -> None:
    place = f"{name}, line {line}"
    if len(cells) > MOST_COLUMNS:
        raise Refused(
            f"{place}: there are {counted(len(cells), 'cell')}; at most {MOST_COLUMNS:,} are read."
        )
    text = "\n".join(cells)
    if _NO_TEXT.search(text):
        raise Refused(f"{place}: there is a NUL character or half of one; this is not a text file.")
    if len(text) > LONGEST_CELL:
        _check_length(place, cells, len(text))


def _check_length(place: str, cells: Sequence[str], length: int) -> None:
    if max(map(len, cells)) > LONGEST_CELL:
        raise too_long(place)
    if length > LONGEST_ROW:
        raise Refused(f"{place}: this row is longer than {LONGEST_ROW:,} characters.")


def too_long(place: str) -> Refused:
    return Refused(
        f"{place}: a cell is longer than {LONGEST_CELL:,} characters. Shorten the cell, or close "
        "an open quotation mark."
    )
