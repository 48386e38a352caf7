"""Old Excel and OpenDocument files, read in a process of their own."""

import contextlib
import random
import subprocess
from datetime import time
from pathlib import Path

import pytest
from openpyxl import Workbook

from selection.errors import Refused
from selection.imports.readers import read_table
from selection.limits import MOST_COLUMNS

from .files import everything, open_document, open_row, saved

STORED = "numbers as stored, for example 5% as 0.05"
PEOPLE = (Path(__file__).parents[3] / "data" / "people.xls").read_bytes()


def test_old_excel_shows_its_first_sheet_with_something_that_can_be_seen():
    """Dates as dates, 3 and not 3.0, lines as Excel counts them."""
    table = read_table(PEOPLE, "people.xls")
    assert table.what == f"old Excel workbook, sheet “Leute”; {STORED}"
    assert table.header == ["Kennung", "Größe", "seit", "aktiv"]
    assert list(table.rows) == [
        (3, ["A1", "1.8", "2026-01-02", "true"]),
        (4, ["A2", "3", "2025-12-31", "false"]),
    ]


def test_open_documents_are_read_likewise():
    rows = open_row("worker", "name") + open_row("", "") + open_row("A1", "Jörg", times=2)
    raw = open_document(rows, hidden=open_row("not", "shown"))
    table = read_table(raw, "f.ods")
    assert table.what == f"OpenDocument workbook, sheet “Leute”; {STORED}"
    assert list(table.rows) == [(3, ["A1", "Jörg"]), (4, ["A1", "Jörg"])]
    with pytest.raises(Refused, match="is empty"):
        read_table(open_document(""), "f")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (open_row("x", times=1_000_000, wide=16_384), "too large"),
        (open_row("a") + open_row("x" * 1_500, wide=900), "is longer than 1,000,000"),
        (open_row("a") + open_row("x", wide=2000), f"at most {MOST_COLUMNS:,} are read"),
    ],
)
def test_a_file_that_was_made_to_take_all_memory_takes_its_own_process_down(rows, why):
    with pytest.raises(Refused, match=why):
        everything(open_document(rows))


def test_broken_files_are_refused_or_read(sample):
    rng = random.Random(5)
    for _ in range(sample(4, 200)):
        raw = bytearray(PEOPLE)
        for _ in range(30):
            raw[rng.randrange(512, len(raw))] = rng.randrange(256)
        with contextlib.suppress(Refused):
            everything(bytes(raw))


def test_abandoned_reading_ends_the_process_which_had_no_secrets(monkeypatch):
    began = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            began.append(self)
            assert "secret" not in kwargs["env"].values()
            super().__init__(*args, **kwargs)

    monkeypatch.setenv("SECRET_KEY", "secret")
    monkeypatch.setattr(subprocess, "Popen", Noted)
    table = read_table(open_document(open_row("A1", times=150_000)), "f")
    next(table.rows)
    table.rows.close()
    del table
    assert began
    assert all(process.returncode is not None for process in began)


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.05, "0%", "5%"),
        (0.0512, "0.00%", "5.12%"),
        (65.87, '#,##0.00 "€"', "65.87 €"),
        (65.5, "#,##0.00\\ [$€-407]", "65.50 €"),
        (7, "00000", "00007"),
        (0.5, "# ?/?", "1/2"),
        (12.5, '0.0" kg"', "12.5 kg"),
        (1.25, "0.00", "1.25"),
        (time(15, 30), "hh:mm", "15:30"),
    ],
)
def test_numbers_are_read_as_the_sheet_shows_them(value, code, shown):
    book = Workbook()
    book.active["B3"] = "answer"
    book.active["B4"] = value
    book.active["B4"].number_format = code
    assert everything(saved(book)) == [["answer"], [shown]]
