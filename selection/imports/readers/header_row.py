"""Which row names the columns: mostly the first, but a title and notes may stand above it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from selection.errors import Refused

from .limits import Line

LOOKED_AT = 20  # rows
# Whether a row of these cells names the columns that are wanted; and the next two rows.
Fits = Callable[[list[str], Sequence[list[str]]], bool]


def find_header(lines: Iterator[Line], fits: Fits) -> tuple[bool, Line, Iterator[Line]]:
    """Whether anything stands above it, the row that names the columns, and those below.

    The first of which that is so; else the likeliest, which is the first that is no title.
    """
    begun, rest = _split_first_rows(lines)
    if not begun:
        return False, (0, []), rest
    place = _header_position([[cell.strip() for cell in cells] for _, cells in begun], fits)
    return place > 0, begun[place], chain(begun[place + 1 :], rest)


def use_header(lines: Iterator[Line], row: int, name: str) -> tuple[bool, Line, Iterator[Line]]:
    """The same of the row that a person says. Raises Refused where there is nothing in it."""
    above = False
    for line, cells in lines:
        if line >= row:
            if line > row:
                break
            return above, (line, cells), lines
        above = True
    raise Refused(f"{name} has nothing in row {row}, where the names of its columns should be.")


def _split_first_rows(lines: Iterator[Line]) -> tuple[list[Line], Iterator[Line]]:
    """The first rows and the others; one that cannot be read is refused when it is reached."""
    begun: list[Line] = []
    try:
        begun.extend(islice(lines, 1))
        for line in islice(lines, LOOKED_AT - 1):
            begun.append(line)  # what came before a refusal is kept
    except Refused as refusal:
        if not begun:
            raise
        return begun, _raise_refusal(refusal)
    return begun, lines


def _raise_refusal(refusal: Refused) -> Iterator[Line]:
    raise refusal
    yield


def _header_position(rows: list[list[str]], fits: Fits) -> int:
    filled = [sum(map(bool, cells)) for cells in rows]
    most = max(filled)
    if most == filled[0]:  # no title is as wide as the table
        return 0
    wider = [i for i, count in enumerate(filled) if count > max(1, filled[0])]
    several = [0, *wider] if filled[0] > 1 else wider
    named = next((i for i in several if fits(rows[i], rows[i + 1 : i + 3])), None)
    if named is not None:
        return named
    if filled[0] > 1 or (len(rows[0]) > 1 and fits(rows[0], rows[1:3])):
        return 0
    return filled.index(most)
