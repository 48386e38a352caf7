"""Read CSV and its relatives, with any delimiter."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from selection.errors import Refused
from selection.limits import LONGEST_CELL

from .encoding import ENCODINGS, open_text
from .header_row import LOOKED_AT
from .limits import Fault, Line, too_long

# The usual delimiters, the likeliest first; then those tried if none of these occurs.
_USUAL, _RARE = ",;\t|", ":^~#!$&*/"
_NAMES = {" ": "spaces", ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 64 * 1024
_SAMPLED_ROWS = 100
_DECLARED = re.compile(r'"?sep=(.)"?\r?\n')  # Excel's own first line
_SPACED_QUOTES = re.compile(r'"[^"\n]*"(?: "[^"\n]*")+ *\r?\n')  # R's write.table
HALF = 0.5
_NOWHERE = "\x1f"  # between the cells of a list, which has one a line
_TOO_LONG, _AT_END = "field larger than field limit", "unexpected end of data"

csv.field_size_limit(LONGEST_CELL)


@dataclass(frozen=True)
class Dialect:
    """The way of writing a text file.

    delimiter  "" for a list of values, one a line
    skipped    characters before the header
    spaced     True if a space stands between delimiters and quotation marks
    """

    encoding: str
    delimiter: str
    skipped: int = 0
    spaced: bool = False

    @property
    def description(self) -> str:
        if not self.delimiter:
            shape = "a list, one to a line"
        else:
            between = _NAMES.get(self.delimiter, f"“{self.delimiter}”")
            shape = "TSV" if self.delimiter == "\t" else f"CSV with {between}"
        usual = self.encoding.startswith(("utf-8", "ascii"))
        return shape if usual else f"{shape}, {ENCODINGS.get(self.encoding, self.encoding.upper())}"


def detect_dialect(raw: bytes, encoding: str) -> Dialect:
    text = open_text(raw, encoding).read(_SAMPLE)
    dialect = _guess_dialect(text, encoding)
    return replace(dialect, spaced=_is_spaced(text, dialect.delimiter))


def _is_spaced(text: str, delimiter: str) -> bool:
    between = re.escape(delimiter)
    return bool(delimiter) and bool(
        re.search(rf'{between} +"[^"\n]*"\s*?({between}|[\r\n]|$)', text)
    )


def _guess_dialect(text: str, encoding: str) -> Dialect:
    if _SPACED_QUOTES.match(text):
        return Dialect(encoding, " ")
    declared = _DECLARED.match(text)
    if declared:
        return Dialect(encoding, declared[1], declared.end())
    fitness, best = _fittest(text, _USUAL, _delimiter_fitness)
    if fitness[0] < HALF:  # a title stands above, and a comma in it makes no columns
        below, other = _fittest(text, _USUAL, _fitness_below)
        fitness, best = (below, other) if below > fitness else (fitness, best)
    if not fitness[1]:
        fitness, best = _fittest(text, _RARE, _delimiter_fitness)
        if fitness[0] < 1:  # a colon in every address makes no columns
            return Dialect(encoding, "")
    return Dialect(encoding, best if fitness[1] else "")


def _fittest(
    text: str, delimiters: str, fitness: Callable[[str, str], tuple[float, int]]
) -> tuple[tuple[float, int], str]:
    return max(((fitness(text, each), each) for each in delimiters), key=lambda pair: pair[0])


def _delimiter_fitness(text: str, delimiter: str) -> tuple[float, int]:
    """Rate (share of rows as wide as the header, columns); (0, 0) if the header has one cell."""
    rows = _row_widths(text, delimiter)
    if not rows or rows[0] < 2:
        return 0.0, 0
    return sum(width <= rows[0] and width > 1 for width in rows) / len(rows), rows[0]


def _fitness_below(text: str, delimiter: str) -> tuple[float, int]:
    """Rate the table below lines of one cell.

    (0, 0) if those lines may be a list with the delimiter in one value.
    """
    rows = _row_widths(text, delimiter)
    above = next((i for i, width in enumerate(rows) if width > 1), len(rows))
    table = rows[above:]
    same = [width for width in table if 1 < width <= table[0]]
    if not 0 < above < LOOKED_AT or len(table) < max(2, above) or len(same) < len(table):
        return 0.0, 0
    return 1.0, table[0]


def _row_widths(text: str, delimiter: str) -> list[int]:
    rows = []
    try:
        stream, spaced = io.StringIO(text, newline=""), _is_spaced(text, delimiter)
        for row in csv.reader(stream, delimiter=delimiter, skipinitialspace=spaced):
            if any(cell.strip() for cell in row):
                rows.append(len(row))
            if len(rows) > _SAMPLED_ROWS:
                break
    except csv.Error:
        pass  # reported with its line when the file is read
    if len(rows) > 1 and len(text) == _SAMPLE:
        rows.pop()  # cut off
    return rows


def read_lines(raw: bytes, dialect: Dialect, name: str) -> Iterator[Line]:
    """Yield (number of its first line, cells) of each row that is not blank. Raises Refused."""
    stream = open_text(raw, dialect.encoding)
    stream.read(dialect.skipped)
    between = dialect.delimiter or _NOWHERE
    reader = csv.reader(stream, delimiter=between, strict=True, skipinitialspace=dialect.spaced)
    offset = 1 if dialect.skipped else 0
    line = 1 + offset
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if _TOO_LONG in str(error):
                raise too_long(f"{name}, line {line}") from error
            if _AT_END in str(error):  # the quotation mark may have swallowed the other rows
                raise Refused(
                    f"{name}, line {line}: {error}; check the quotation marks."
                ) from error
            reason = str(error).capitalize().replace(repr(_NOWHERE), "the end of the line")
            yield line, Fault(f"{reason}: check the quotation marks.")
        else:
            if cells is None:
                return
            if any(cell.strip() for cell in cells):
                yield line, cells
        line = reader.line_num + 1 + offset
