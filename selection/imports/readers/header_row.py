"""Find the header row: mostly the first, but a title and notes may stand above it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from selection.errors import Refused

from .limits import Row

LOOKED_AT = 20  # rows
# Test for a row of these cells as the header, given the next two rows.
Fits = Callable[[list[str], Sequence[list[str]]], bool]


def find_header(lines: Iterator[Row], fits: Fits) -> tuple[bool, Row, Iterator[Row]]:
    """Tell if anything stands above the header, and split off header and rows.

    The header is the first row that ``fits``; else the likeliest, which is the first that is not a
    title.
    """
    first_rows, rest = split_first_rows(lines)
    if not first_rows:
        return False, (0, []), rest
    place = _header_position([[cell.strip() for cell in cells] for _, cells in first_rows], fits)
    return place > 0, first_rows[place], chain(first_rows[place + 1 :], rest)


def use_header(lines: Iterator[Row], row: int, name: str) -> tuple[bool, Row, Iterator[Row]]:
    above = False
    for line, cells in lines:
        if line >= row:
            if line > row:
                break
            return above, (line, cells), lines
        above = True
    raise Refused(f"{name} has nothing in row {row}, where the names of its columns should be.")


def split_first_rows(lines: Iterator[Row]) -> tuple[list[Row], Iterator[Row]]:
    first_rows: list[Row] = []
    try:
        first_rows.extend(islice(lines, 1))
        for line in islice(lines, LOOKED_AT - 1):
            first_rows.append(line)  # rows before a refusal are kept
    except Refused as refusal:
        if not first_rows:
            raise
        return first_rows, _raise_refusal(refusal)
    return first_rows, lines


def _raise_refusal(refusal: Refused) -> Iterator[Row]:
    raise refusal
    yield


def _header_position(rows: list[list[str]], fits: Fits) -> int:
    filled = [sum(map(bool, cells)) for cells in rows]
    most = max(filled)
    if most == filled[0]:  # no title is as wide as the table
        return 0
    wider = [i for i, count in enumerate(filled) if count > max(1, filled[0])]
    several = [0, *wider] if filled[0] > 1 else wider
    fitting = next((i for i in several if fits(rows[i], rows[i + 1 : i + 3])), None)
    if fitting is not None:
        return fitting
    if filled[0] > 1 or (len(rows[0]) > 1 and fits(rows[0], rows[1:3])):
        return 0
    return filled.index(most)
