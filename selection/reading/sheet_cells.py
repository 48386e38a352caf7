"""The rows of one Excel sheet, from its XML as it is unpacked: nothing is kept but the texts."""

import re
from collections.abc import Callable, Iterator
from typing import IO
from xml.parsers import expat

from selection.errors import Refused
from selection.limits import LONGEST_CELL, MOST_COLUMNS

from .limits import Line, too_long

MOST_UNPACKED = 150 * 1024 * 1024  # bytes of a sheet, and of a table of texts
LAST_ROW = 1_048_576  # Excel's own
_PIECE = 64 * 1024
_LETTERS = re.compile("[A-Z]{1,3}")

DateOf = Callable[[float, int], str]


def pieces(stream: IO[bytes], most: int, name: str) -> Iterator[bytes]:
    """What unpacks from this. Raises Refused when it is more than this."""
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > most:
            raise Refused(
                f"{name} unpacks to more than {most // 1024**2} MB; save the sheet alone, as CSV."
            )
        yield piece


class _Reader:
    """Tells the ends of elements, with the text in them, to ``start`` and ``end``."""

    def __init__(self, name: str) -> None:
        self.name, self.length, self.inside = name, 0, False
        self.text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse  # no workbook has one

    def feed(self, stream: IO[bytes]) -> Iterator[None]:
        """After each piece that was read."""
        for piece in pieces(stream, MOST_UNPACKED, self.name):
            self.parser.Parse(piece)
            yield
        self.parser.Parse(b"", True)
        yield

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.text, self.length = [], 0
        name = tag.rpartition(":")[2]
        self.inside = name in ("v", "t", "f")
        self.start(name, attributes)

    def _end(self, tag: str) -> None:
        self.end(tag.rpartition(":")[2], "".join(self.text))
        self.text, self.length, self.inside = [], 0, False

    def _characters(self, text: str) -> None:
        if not self.inside:
            return
        self.length += len(text)
        if self.length > LONGEST_CELL:
            raise too_long(self.name)
        self.text.append(text)

    def _refuse(self, *said: object) -> None:
        raise Refused(f"{self.name} declares a document type, which no Excel workbook does.")

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str, text: str) -> None: ...


class Strings(_Reader):
    """The table of texts that cells name by number; read as far as it is needed."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        super().__init__(name)
        self.found: list[str] = []
        self.parts: list[str] = []
        self.spoken = 0  # within how it is pronounced, which is no part of the text
        self.reading = self.feed(stream)

    def __getitem__(self, number: int) -> str:
        while not 0 <= number < len(self.found):
            try:
                next(self.reading)
            except StopIteration:
                raise IndexError(number) from None
        return self.found[number]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "si":
            self.parts = []
        self.spoken += tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        if tag == "t" and not self.spoken:
            self.parts.append(text)
        elif tag == "si":
            self.found.append("".join(self.parts))
        self.spoken -= tag == "rPh"


class _Rows(_Reader):
    """Collects rows in ``ready``; they are taken away after each piece."""

    def __init__(self, strings: Strings, date_of: DateOf, name: str) -> None:
        super().__init__(name)
        self.strings, self.date_of = strings, date_of
        self.ready: list[Line] = []
        self.cells: dict[int, str] = {}
        self.line = self.place = self.style = 0
        self.kind = self.value = self.formula = ""
        self.spoken = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            self.cells, self.place = {}, -1
            self.line = int(attributes.get("r", self.line + 1))
            if not 0 < self.line <= LAST_ROW:
                raise ValueError(self.line)
        elif tag == "c":
            where = _LETTERS.match(attributes.get("r", ""))
            self.place = _column(where[0]) if where else self.place + 1
            self.kind, self.style = attributes.get("t", "n"), int(attributes.get("s", 0))
            self.value = self.formula = ""
        self.spoken += tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        if tag == "v":
            self.value = text
        elif tag == "t" and not self.spoken:
            self.value += text
        elif tag == "f":
            self.formula = f"={text}" if text else ""
        elif tag == "c":
            self._keep(self._shown())
        elif tag == "row" and self.cells:
            cells = [""] * (max(self.cells) + 1)
            for place, shown in self.cells.items():
                cells[place] = shown
            self.ready.append((self.line, cells))
        self.spoken -= tag == "rPh"

    def _keep(self, shown: str) -> None:
        if not shown.strip():
            return
        if self.place >= MOST_COLUMNS:
            raise Refused(
                f"{self.name}, line {self.line}: there are cells in more than {MOST_COLUMNS:,} "
                "columns; delete those that you do not need."
            )
        self.cells[self.place] = shown

    def _shown(self) -> str:
        """As a person sees it. A formula counts as what it came to, and where no program ever
        worked it out, as its text: nothing is computed here."""
        if self.value == "":
            return self.formula
        if self.kind == "s":
            return self.strings[int(self.value)]
        if self.kind == "b":
            return "true" if self.value == "1" else "false"
        return self._number() if self.kind == "n" else self.value

    def _number(self) -> str:
        """Dates as 2026-11-22; else with the 15 digits that Excel keeps, 3 and not 3.0."""
        number = float(self.value)
        date = self.date_of(number, self.style)
        if date or self.value.isdecimal():
            return date or self.value
        whole = number.is_integer() and abs(number) < 1e15
        return str(int(number)) if whole else f"{number:.15g}"


def rows(stream: IO[bytes], strings: Strings, date_of: DateOf, name: str) -> Iterator[Line]:
    """(line, cells) of the rows in which there is something. Raises Refused, and of a broken file
    whatever comes."""
    sheet = _Rows(strings, date_of, name)
    for _ in sheet.feed(stream):
        ready, sheet.ready = sheet.ready, []
        yield from ready


def _column(letters: str) -> int:
    """A is 0, Z is 25, AA is 26."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1
