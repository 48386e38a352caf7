"""Reading of tables in all formats."""

import csv
import io
import json
import tracemalloc
from datetime import datetime, time, timedelta

import pytest
from openpyxl import Workbook

from selection.errors import Refused
from selection.imports.readers import read_table
from selection.limits import MOST_ROWS

from .files import GERMAN, everything, of_cells, replaced, saved, workbook


def delimited(rows, delimiter=",", **how) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, **how).writerows(rows)
    return out.getvalue()


def refusal(raw: bytes | str) -> str:
    with pytest.raises(Refused) as caught:
        everything(raw)
    return str(caught.value)


# -- CSV


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_table_is_read_with_many_delimiters_and_encodings(delimiter, encoding):
    assert everything(delimited(GERMAN, delimiter).encode(encoding)) == GERMAN


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "mac_roman"])
@pytest.mark.parametrize("name", ["Müller", "José Ñandú", "Groß", "Äpfel", "Bjørn"])
def test_a_single_name_tells_windows_from_the_older_mac(name, encoding):
    rows = [["worker", "name"], ["1", name], ["2", "Ada"]]
    assert everything(delimited(rows, ";").encode(encoding)) == rows


def test_cyrillic_encoding_is_recognised_or_named():
    rows = [["имя", "город"], ["Иван Петров", "Москва"], ["Ольга", "Казань"]]
    raw = delimited(rows).encode("cp1251")
    assert everything(raw) == everything(raw, encoding="cp1251") == rows


def test_an_encoding_that_the_file_is_not_in_is_refused_with_its_line():
    with pytest.raises(Refused, match="line 3: this is not text in UTF-8"):
        everything("a;b\n1;2\nä;3\n".encode("cp1252"), encoding="utf-8")


def test_excels_own_first_line_is_no_header():
    table = read_table(b"sep=;\r\nworker;name\r\nA1;Ada\r\n", "f")
    assert (table.line, table.header) == (2, ["worker", "name"])
    assert list(table.rows) == [(3, ["A1", "Ada"])]


def test_a_list_has_one_column_and_keeps_its_quotation_marks_out():
    assert everything(b"A1\r\nA2\r\n\r\nA3\r\n") == [["A1"], ["A2"], ["A3"]]
    assert everything(b'"A1"\n"A2"\n') == [["A1"], ["A2"]]


def test_a_colon_in_addresses_makes_no_columns():
    assert everything(b"url\nhttps://a.b/c\nhttps://d.e/f\n")[1] == ["https://a.b/c"]


def test_rows_keep_the_lines_they_begin_in():
    table = read_table('a,b\r\n"1\r\n2",3\r\n\r\n4,5\r\n', "f")
    assert list(table.rows) == [(2, ["1\r\n2", "3"]), (5, ["4", "5"])]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "f is empty"),
        (b" \n\n", "f is empty"),
        (b'a,b\n"x,1\n', "line 2: unexpected end of data; check the quotation marks"),
        (b"a,b\n" + b"x" * 10_000_000 + b",1\n", "line 2: a cell is longer than 100,000"),
        (b'a,b\n"' + b"x,1\n" * 100_000, "or close an open quotation mark"),
        (b",".join(b"c%d" % i for i in range(5000)), "there are 5,000 cells; at most 1,000"),
        (b"a,b\n1,\0\n", "line 2: there is a NUL character"),
        (b"a\n" + b"x\n" * (MOST_ROWS + 1), "more than 200,000 rows: split the file"),
        (b"a,A\n1,2\n", "the column “a” is there twice"),
        (b"%PDF-1.7 x", "a PDF document"),
        (b"\x89PNG\r\n", "a picture"),
        (b"PK\x03\x04 something", "it has a password, is broken, too large, or another program's"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1",
            "it has a password, is broken, too large, or another program's",
        ),
        (b"<html><table><tr><td>a", "a web page, whatever its name says"),
    ],
)
def test_file_without_a_table_is_refused_in_one_sentence(raw, why):
    assert why in refusal(raw)


UNREADABLE = "There is an unreadable character"
BAD_ROWS = [
    (b"a,b\n1,2\n1,2,3\n4,5\n", 3, "There are 3 values for 2 columns"),
    ("a,b\n1,2\n1,\0\n4,5\n".encode("utf-16"), 3, UNREADABLE),
    ("a,b\nü,2\n1,ä\n".encode() + b"4,\xeb\n4,5\n", 4, UNREADABLE),
    (b'a,b\n1,2\n"3"x,4\n4,5\n', 3, "check the quotation marks"),
    (b'{"a": 1}\n{"a"\n{"a": 3}\n', 2, "The line is not valid JSON"),
    (b'[{"a": 1},\n{"a": "\\ud800"},\n{"a": 3}]', 2, UNREADABLE),
    (json.dumps([{"a": 1}] * 1001 + [{"b": 2}]).encode(), 1, "The field “b” is not in the"),
]


@pytest.mark.parametrize(("raw", "line", "why"), BAD_ROWS)
def test_bad_row_does_not_refuse_a_file(raw, line, why):
    table = read_table(raw, "f")
    assert len(list(table.rows)) > 1
    ((number, reason),) = table.faults
    assert number == line
    assert why in reason


def test_a_bad_header_refuses_the_file():
    assert "line 1: There is an unreadable character" in refusal("é,ü\ufffd\n1,2\n".encode())


@pytest.mark.slow
def test_largest_allowed_file_is_read_in_bounded_memory():
    row = b"A1234567,somebody with a name\n"
    raw = b"worker,name\n" + row * MOST_ROWS
    tracemalloc.start()
    count = sum(1 for _ in read_table(raw, "f").rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == MOST_ROWS
    assert most < 3_000_000  # besides the file itself


# -- JSON


def test_json_becomes_rows_with_paths_as_column_names():
    raw = json.dumps(
        [
            {"id": 7, "data": {"text": "Äpfel"}, "tags": ["a", "b"]},
            {"id": 8, "ok": True, "no": None},
        ]
    )
    assert everything(raw) == [
        ["id", "data.text", "tags", "ok", "no"],
        ["7", "Äpfel", "a | b", "", ""],
        ["8", "", "", "true", ""],
    ]


def test_json_may_have_an_object_a_line_and_numbers_stay_as_they_are_written():
    table = read_table('{"a": 1.50}\n{"a": 12345678901234567890}\n', "f")
    assert list(table.rows) == [(1, ["1.50"]), (2, ["12345678901234567890"])]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("[" + '{"a":' * 100_000, "too many objects within objects"),
        ('[{"a": ' + "[" * 100_000, "too many objects within objects"),
        ('[{"a": 1}', "breaks off"),
        ('[{"a": 1}, 2]', "a list of objects is read"),
        ("[]", "f is empty"),
    ],
)
def test_json_that_is_no_table_is_refused(raw, why):
    assert why in refusal(raw)


# -- Excel


def test_excel_is_read_and_its_sheet_named():
    table = read_table(workbook(GERMAN), "f.csv")
    assert table.what == "Excel workbook, sheet “Tabelle1”"
    assert [table.header, *(cells for _, cells in table.rows)] == GERMAN


def test_cells_are_as_a_person_would_type_them():
    book = Workbook()
    sheet = book.active
    sheet.append(["n", "x", "b", "d", "t", "s", "z"])
    moment = datetime(2026, 11, 22, 9, 30)
    sheet.append([3.0, 0.1 + 0.2, True, datetime(2026, 11, 22), moment, "  1e5 ", None])
    assert everything(saved(book))[1] == [
        "3",
        "0.3",
        "true",
        "2026-11-22",
        "2026-11-22 09:30:00",
        "1e5",
        "",
    ]


def test_formulas_count_as_their_stored_results_or_are_empty():
    assert everything(workbook([["a", "b"], ["=1+1", "x"]]))[1] == ["", "x"]
    cells = (
        '<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>'
        '<row><c t="str"><f>B1&amp;"x"</f><v>yx</v></c><c><v>1</v></c></row>'
        '<row><c t="str"><f>IF(A1="","",1)</f><v></v></c><c><v>2</v></c></row>'
    )
    parts = {"sheet1": of_cells(cells)}
    assert everything(replaced(workbook([["a"]]), **parts)) == [["a", "b"], ["yx", "1"], ["", "2"]]


def test_times_and_durations_are_read_to_the_second():
    book = Workbook()
    book.active.append(["time", "duration", "moment"])
    late = datetime(2026, 11, 22, 9, 30, 59, 999_900)
    book.active.append([time(9, 30), timedelta(hours=30, seconds=5), late])
    assert everything(saved(book))[1] == ["09:30", "30:00:05", "2026-11-22 09:31:00"]


def test_whole_numbers_are_read_exactly_or_refused():
    """Two long ids that differ in their last digit must not become one."""
    parts = {"sheet1": of_cells("<row><c><v>%s</v></c></row>" * 2 % ("1", 10**15 - 1))}
    assert everything(replaced(workbook([["a"]]), **parts)) == [["1"], ["999999999999999"]]
    for number in (10**15, 1234567890123450, 12345678901234567):  # a spreadsheet writes 0s
        parts = {"sheet1": of_cells("<row><c><v>%s</v></c></row>" * 2 % ("1", number))}
        table = read_table(replaced(workbook([["a"]]), **parts), "f")
        assert list(table.rows) == []
        assert "There is a number of more than 15 digits" in table.faults[0][1]


def test_texts_of_the_common_table_are_put_together_without_how_they_are_pronounced():
    strings = (
        "<sst><si><t>worker</t></si><si><r><t>Jö</t></r><r><t>rg</t></r></si>"
        "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si></sst>"
    )
    cells = "".join(f'<row><c t="s"><v>{number}</v></c></row>' for number in (0, 2, 1))
    parts = {"sharedStrings": strings.encode(), "sheet1": of_cells(cells)}
    assert everything(replaced(workbook([["a"]]), **parts)) == [["worker"], ["東京"], ["Jörg"]]


def test_first_visible_sheet_with_content_is_taken():
    book = Workbook()
    hidden = book.active
    hidden.append(["hidden"])
    hidden.sheet_state = "hidden"
    book.create_sheet("Leer")
    book.create_sheet("Daten").append(["worker"])
    assert read_table(saved(book), "f").what == "Excel workbook, sheet “Daten”"


def test_an_empty_workbook_says_so():
    assert "nothing in its sheets" in refusal(workbook([]))


STRINGS = b"<sst>" + b"<si><t>%s</t></si>" % (b"x" * 1000) * 300_000 + b"</sst>"
LAST_STRING = of_cells('<row><c t="s"><v>299999</v></c></row>')
BOMB = b"<worksheet><sheetData>" + b" " * 250 * 1024 * 1024
FAR_CELL = '<row><c r="A1"><v>1</v></c><c r="ZZZ1"><v>1</v></c></row>'
LAST_CELL = '<row><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
LAUGHS = (
    b'<!DOCTYPE a [<!ENTITY x "'
    + b"lol" * 1000
    + b'">]><worksheet><sheetData><row><c t="str"><v>'
    + b"&x;" * 1000
    + b"</v></c></row></sheetData></worksheet>"
)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"sheet1": BOMB}, "unpacks to more than 150 MB"),
        ({"sharedStrings": STRINGS, "sheet1": LAST_STRING}, "unpacks to more than 150 MB"),
        ({"styles": b"<a>" + b" " * 6_000_000}, "cannot be read"),
        ({"sheet1": LAUGHS}, "cannot be read"),
        ({"sheet1": b"<worksheet><sheetData><row>"}, "cannot be read"),
        pytest.param(
            {"sheet1": of_cells('<row r="99999999999"><c><v>1</v></c></row>')},
            "cannot be read",
            marks=pytest.mark.slow,  # it reads until its 30 seconds are over
        ),
        ({"sheet1": of_cells(FAR_CELL)}, "line 1: there are 18,278 cells; at most 1,000 are read"),
        ({"sheet1": of_cells(LAST_CELL)}, "too large"),
        ({"sheet1": of_cells('<row><c t="s"><v>999</v></c></row>')}, "cannot be read"),
        (
            {"sheet1": of_cells(f'<row><c t="str"><v>{"x" * 10_000_000}</v></c></row>')},
            "a cell is longer than 100,000 characters",
        ),
    ],
)
def test_a_workbook_that_means_harm_is_refused_in_one_sentence(parts, why):
    assert why in refusal(replaced(workbook([["a", "b"], ["c", 1]]), **parts))


@pytest.mark.slow
def test_a_large_workbook_takes_no_memory_of_the_process_that_asks_for_it():
    row = '<row><c t="inlineStr"><is><t>A1234567</t></is></c></row>'
    raw = replaced(workbook([["a"]]), sheet1=of_cells(row * 100_000))
    tracemalloc.start()
    count = sum(1 for _ in read_table(raw, "f").rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 99_999
    assert most < 3_000_000  # besides the file itself
