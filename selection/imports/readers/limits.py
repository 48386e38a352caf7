"""Limits on files, so that no file takes unbounded time or memory."""

import re
from collections.abc import Iterable, Iterator, Sequence

from selection.errors import Refused
from selection.limits import LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS
from selection.texts import counted

# Databases do not store NUL or halves of surrogate pairs, and texts do not need them; the last
# character stands for bytes that could not be read.
_NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")
UNREADABLE = "There is an unreadable character: write it again, and save the file in UTF-8."


class Fault(str):
    """The reason why a line cannot be read, in place of its cells."""


Row = tuple[int, list[str]]
Line = tuple[int, list[str] | Fault]
Faults = list[tuple[int, str]]


def check_lines(lines: Iterable[Line], name: str, most_rows: int, faults: Faults) -> Iterator[Row]:
    """Yield the readable lines; the others are added to ``faults``.

    Raises Refused at the first line that exceeds a limit, and if the first is unreadable.
    """
    readable = 0
    for count, (line, cells) in enumerate(lines):
        if count > most_rows:
            raise Refused(
                f"{name} has more than {most_rows:,} rows: split the file into smaller files."
            )
        if not isinstance(cells, Fault):
            readable += 1
            yield line, cells
        elif readable:
            faults.append((line, str(cells)))
        else:
            raise Refused(f"{name}, line {line}: {cells}")


def bound_lines(lines: Iterable[Line], name: str) -> Iterator[Line]:
    """Replace unreadable lines by a fault. Raises Refused at the first that exceeds a limit."""
    for line, cells in lines:
        if not isinstance(cells, Fault):
            _check_line(line, cells, name)
            cells = Fault(UNREADABLE) if _NO_TEXT.search("\n".join(cells)) else cells
        yield line, cells


def _check_line(line: int, cells: Sequence[str], name: str) -> None:
    place = f"{name}, line {line}"
    if len(cells) > MOST_COLUMNS:
        raise Refused(
            f"{place}: there are {counted(len(cells), 'cell')}; at most {MOST_COLUMNS:,} are read."
        )
    text = "\n".join(cells)
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
