"""Excel workbooks (.xlsx): the first sheet that can be seen and is not empty.

Read here and not by a library, as a stream: the first rows are there at once, however long the
sheet, and nothing that a file says of its own size is believed. (For 200,000 rows openpyxl took
18 s, 5 of them to the first row; this takes 5 s, and a hundredth of one. Others unpack it whole.)
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from posixpath import join, normpath
from xml.etree.ElementTree import Element, XMLParser  # nosec B405: see _tree

from selection.errors import Refused

from .limits import Line
from .sheet_cells import Strings, pieces, rows

MOST_OF_OTHERS = 5 * 1024 * 1024  # bytes of a part that is no sheet and no table of texts
_BUILT_IN_DATES = {*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)}
_NO_DATE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[*_].')


def is_workbook(raw: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except Exception:  # whatever is wrong with it
        return False


def lines(raw: bytes, name: str) -> tuple[str, Iterator[Line]]:
    """What it is, in words, and the rows of its sheet, the header first. Raises Refused."""
    try:
        book = Workbook(zipfile.ZipFile(io.BytesIO(raw)), name)
        for title, part in book.sheets:
            found = book.lines_of(part)
            first = next(found, None)
            if first is not None:
                return f"Excel workbook, sheet “{title}”", _safely(chain([first], found), name)
    except Refused:
        raise
    except Exception as error:  # there is no end of what can be wrong in a file
        raise _unreadable(name) from error
    raise Refused(f"{name} is empty: there is nothing in its sheets.")


def _safely(found: Iterator[Line], name: str) -> Iterator[Line]:
    try:
        yield from found
    except Refused:
        raise
    except Exception as error:
        raise _unreadable(name) from error


def _unreadable(name: str) -> Refused:
    return Refused(
        f"{name} cannot be read as an Excel workbook; open it, save it again as .xlsx, or as CSV."
    )


@dataclass
class Workbook:
    """The parts of a workbook that tell where its sheets are and what their numbers mean."""

    archive: zipfile.ZipFile
    name: str

    def lines_of(self, part: str) -> Iterator[Line]:
        with self.archive.open(part) as stream:
            yield from rows(stream, self.strings, self.date_of, self.name)

    @cached_property
    def _book(self) -> Element:
        return self._tree("xl/workbook.xml")

    @cached_property
    def sheets(self) -> list[tuple[str, str]]:
        """(title, part) of those that can be seen."""
        there = set(self.archive.namelist())
        targets = {
            link.get("Id"): normpath(join("xl", link.get("Target", ""))).lstrip("/")
            for link in self._tree("xl/_rels/workbook.xml.rels")
        }
        found = [
            (sheet.get("name", ""), targets.get(_link(sheet), ""))
            for sheet in _named(self._book, "sheet")
            if sheet.get("state", "visible") == "visible"
        ]
        return [(title, part) for title, part in found if part in there]

    @cached_property
    def strings(self) -> Strings:
        part = "xl/sharedStrings.xml"
        there = part in self.archive.namelist()
        return Strings(self.archive.open(part) if there else io.BytesIO(), self.name)

    # -- numbers that are dates

    @cached_property
    def _from_1904(self) -> bool:
        said = [book.get("date1904") for book in _named(self._book, "workbookPr")]
        return bool(said) and said[0] in ("1", "true")

    @cached_property
    def _date_styles(self) -> set[int]:
        """Styles of cells whose numbers are shown as dates or times."""
        if "xl/styles.xml" not in self.archive.namelist():
            return set()
        styles = self._tree("xl/styles.xml")
        shown = {
            int(each.get("numFmtId", 0)): _NO_DATE.sub("", each.get("formatCode", ""))
            for each in _named(styles, "numFmt")
        }
        own = {number for number, form in shown.items() if re.search("[ymdhs]", form, re.I)}
        dates = own | (_BUILT_IN_DATES - set(shown))
        cells: Iterable[Element] = next(_named(styles, "cellXfs"), ())
        return {i for i, cell in enumerate(cells) if int(cell.get("numFmtId", 0)) in dates}

    def date_of(self, number: float, style: int) -> str:
        """The date, or date and time, that this number is shown as; empty for other numbers."""
        if style not in self._date_styles or not 0 <= number < 2_958_466:
            return ""
        if self._from_1904:
            begin = datetime(1904, 1, 1)
        else:  # which counts a 29 February that 1900 did not have
            begin = datetime(1899, 12, 30 if number >= 60 else 31)
        moment = begin + timedelta(seconds=round(number * 86400))
        if number < 1:
            return moment.strftime("%H:%M:%S")
        return str(moment if moment.time() != moment.min.time() else moment.date())

    def _tree(self, part: str) -> Element:
        """Of a part that is small, else somebody means harm."""
        # Expat bounds what entities may grow to, and looks at nothing outside.
        parser = XMLParser()  # noqa: S314  # nosec B314
        with self.archive.open(part) as stream:
            for piece in pieces(stream, MOST_OF_OTHERS, self.name):
                parser.feed(piece)
        root: Element = parser.close()
        return root


def _named(tree: Element, name: str) -> Iterator[Element]:
    """Those of this name in whatever namespace."""
    return (each for each in tree.iter() if each.tag.rpartition("}")[2] == name)


def _link(sheet: Element) -> str | None:
    return next((v for k, v in sheet.attrib.items() if k.endswith("}id")), None)
