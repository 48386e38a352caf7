"""How much a file may hold, so that no file takes unbounded time or memory."""

import re
from collections.abc import Iterable, Iterator, Sequence

from selection.errors import Refused
from selection.limits import LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS

# No database keeps NUL or halves of pairs, and nobody means to have them.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")

Line = tuple[int, list[str]]


def check_lines(lines: Iterable[Line], name: str, most_rows: int) -> Iterator[Line]:
    """The same lines. Raises Refused at the first that is more than a file may hold."""
    for count, (line, cells) in enumerate(lines):
        if count > most_rows:
            raise Refused(
                f"{name} has more than {most_rows:,} rows; split it into files of at most so many."
            )
        _check_line(line, cells, name)
        yield line, cells


def _check_line(line: int, cells: Sequence[str], name: str) -> None:
    where = f"{name}, line {line}"
    if len(cells) > MOST_COLUMNS:
        raise Refused(
            f"{where}: there are {len(cells):,} cells; at most {MOST_COLUMNS:,} are read."
        )
    whole = "\n".join(cells)
    if _NO_TEXT.search(whole):
        raise Refused(f"{where}: there is a NUL character or half of one; this is not a text file.")
    if len(whole) > LONGEST_CELL:
        _check_length(where, cells, len(whole))


def _check_length(where: str, cells: Sequence[str], whole: int) -> None:
    if max(map(len, cells)) > LONGEST_CELL:
        raise too_long(where)
    if whole > LONGEST_ROW:
        raise Refused(f"{where}: this row is longer than {LONGEST_ROW:,} characters.")


def too_long(where: str) -> Refused:
    return Refused(
        f"{where}: a cell is longer than {LONGEST_CELL:,} characters; if there is none in the "
        "file, a quotation mark is opened there and never closed."
    )
