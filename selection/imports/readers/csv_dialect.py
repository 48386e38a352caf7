"""CSV and its relatives: whatever stands between the cells."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from selection.errors import Refused
from selection.limits import LONGEST_CELL

from .encoding import ENCODINGS, open_text
from .header_row import LOOKED_AT
from .limits import Line, too_long

# The usual ones, the likeliest first; then what is tried where none of these is there.
_USUAL, _RARE = ",;\t|", ":^~#!$&*/"
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 64 * 1024
_SAMPLED_ROWS = 100
_SAID = re.compile(r'"?sep=(.)"?\r?\n')  # Excel's own first line
HALF = 0.5
_NOWHERE = "\x1f"  # between the cells of a list, which has one a line
_TOO_LONG = "field larger than field limit"

csv.field_size_limit(LONGEST_CELL)


@dataclass(frozen=True)
class Dialect:
    """delimiter  "" for a list of values, one a line
    skipped    characters before the header
    """

    encoding: str
    delimiter: str
    skipped: int = 0

    @property
    def words(self) -> str:
        if not self.delimiter:
            shape = "a list, one to a line"
        else:
            between = _NAMES.get(self.delimiter, f"“{self.delimiter}”")
            shape = "TSV" if self.delimiter == "\t" else f"CSV with {between}"
        usual = self.encoding.startswith(("utf-8", "ascii"))
        return shape if usual else f"{shape}, {ENCODINGS.get(self.encoding, self.encoding.upper())}"


def detect_dialect(raw: bytes, encoding: str) -> Dialect:
    """How this text is to be read."""
    text = open_text(raw, encoding).read(_SAMPLE)
    said = _SAID.match(text)
    if said:
        return Dialect(encoding, said[1], said.end())
    best = max(
        ((_delimiter_fitness(text, each), each) for each in _USUAL), key=lambda pair: pair[0]
    )
    if best[0][0] < HALF:  # a title stands above, and a comma in it makes no columns
        below = max(
            ((_fitness_below(text, each), each) for each in _USUAL), key=lambda pair: pair[0]
        )
        best = max(best, below, key=lambda pair: pair[0])
    if not best[0][1]:
        best = max(
            ((_delimiter_fitness(text, each), each) for each in _RARE), key=lambda pair: pair[0]
        )
        if best[0][0] < 1:  # a colon in every address makes no columns
            return Dialect(encoding, "")
    return Dialect(encoding, best[1] if best[0][1] else "")


def _delimiter_fitness(text: str, delimiter: str) -> tuple[float, int]:
    """(share of rows as wide as the header, columns); (0, 0) where the header is of one cell."""
    rows = _row_widths(text, delimiter)
    if not rows or rows[0] < 2:
        return 0.0, 0
    return sum(width <= rows[0] and width > 1 for width in rows) / len(rows), rows[0]


def _fitness_below(text: str, delimiter: str) -> tuple[float, int]:
    """The same of what stands below lines of one cell; (0, 0) where those may be a list, in which
    one has the delimiter."""
    rows = _row_widths(text, delimiter)
    above = next((i for i, width in enumerate(rows) if width > 1), len(rows))
    table = rows[above:]
    same = [width for width in table if 1 < width <= table[0]]
    if not 0 < above < LOOKED_AT or len(table) < max(2, above) or len(same) < len(table):
        return 0.0, 0
    return 1.0, table[0]


def _row_widths(text: str, delimiter: str) -> list[int]:
    """Of the first rows that are not blank, how many cells each has."""
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                rows.append(len(row))
            if len(rows) > _SAMPLED_ROWS:
                break
    except csv.Error:
        pass  # said with its line when the file is read
    if len(rows) > 1 and len(text) == _SAMPLE:
        rows.pop()  # cut off
    return rows


def read_lines(raw: bytes, how: Dialect, name: str) -> Iterator[Line]:
    """(number of its first line, cells) of every row that is not blank. Raises Refused."""
    stream = open_text(raw, how.encoding)
    stream.read(how.skipped)
    reader = csv.reader(stream, delimiter=how.delimiter or _NOWHERE, strict=True)
    behind = 1 if how.skipped else 0
    line = 1 + behind
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1 + behind
    except csv.Error as error:
        if _TOO_LONG in str(error):
            raise too_long(f"{name}, line {line}") from error
        raise Refused(f"{name}, line {line}: {error}; check the quotation marks.") from error
