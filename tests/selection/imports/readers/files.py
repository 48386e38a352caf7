"""Typical files, made without the programs that usually write them."""

import io
import zipfile
from collections.abc import Sequence

from openpyxl import Workbook

from selection.imports import platforms, row_parsers
from selection.imports.column_plan import ColumnPlan
from selection.imports.readers import read_table

GERMAN = [
    ["Kennung", "Name", "Größe"],
    ["A1", "Jörg Müller", "1,80"],
    ["A2", "Änne Groß", "1,65"],
    ["A3", "Zoë „die Kurze“", "1,50 €"],
]


def everything(raw: bytes | str, name: str = "f", **how: str) -> list[list[str]]:
    """The header and all rows."""
    table = read_table(raw, name, **how)
    return [table.header, *(cells for _, cells in table.rows)]


def said(kind: str, raw: bytes | str) -> tuple[ColumnPlan, list[object]]:
    """The likeliest plan, and each row parsed by it; rows that are passed over left out."""
    table = read_table(raw, "f")
    plan = platforms.recognise_columns(kind, table.header)
    platforms.refuse_missing(plan, table.header, "f")
    return plan, [one for _, one in row_parsers.parse_rows(table, plan) if one is not None]


def workbook(rows: Sequence[Sequence[object]], title: str = "Tabelle1") -> bytes:
    """As a German Excel would save it, but for its styles."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    return saved(book)


def saved(book: Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def replaced(raw: bytes, **parts: bytes) -> bytes:
    """A workbook with other parts, such as sheet1=b"...", or further ones, packed anew."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for item in old.infolist():
            own = next((b for n, b in parts.items() if item.filename.endswith(f"{n}.xml")), None)
            new.writestr(item.filename, old.read(item) if own is None else own)
        there = " ".join(old.namelist())
        for name, content in parts.items():
            if f"{name}.xml" not in there:
                new.writestr(f"xl/{name}.xml", content)
    return out.getvalue()


def open_document(rows: str, hidden: str = "") -> bytes:
    """As LibreOffice packs it. rows: XML of the sheet; hidden: of one that is not shown"""
    names = {"office": "office", "table": "table", "text": "text", "style": "style"}
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in names.items()
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>"
        '<style:style style:name="out" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
        "<office:body><office:spreadsheet>"
        f'<table:table table:name="No" table:style-name="out">{hidden}</table:table>'
        f'<table:table table:name="Leute">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", 8) as book:
        kind = zipfile.ZipInfo("mimetype")
        book.writestr(kind, "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", manifest)
        book.writestr("content.xml", content)
    return out.getvalue()


def open_row(*cells: str, times: int = 1, wide: int = 1) -> str:
    """times, wide: how often the row and its cells are repeated"""
    inside = "".join(
        f'<table:table-cell office:value-type="string" table:number-columns-repeated="{wide}">'
        f"<text:p>{cell}</text:p></table:table-cell>"
        for cell in cells
    )
    return f'<table:table-row table:number-rows-repeated="{times}">{inside}</table:table-row>'


def of_cells(cells: str) -> bytes:
    """A sheet's XML."""
    return f"<worksheet><sheetData>{cells}</sheetData></worksheet>".encode()
