"""No cell of an exported file is a formula, and a returned file reads as before."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection import engine
from selection.exports import writing
from selection.imports import catalog, row_parsers
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import Answer, Pool, QuestionSet, Run
from tests.pages import admin_url, confirm, lines_of, upload
from tests.worlds import make_run, open_of, play

HIDDEN_FORMULAS = [
    "＝1+1",
    "﹦1",
    "＋1",
    "－1",
    "＠A1",
    "\u200b=1",
    "\ufeff＝1",
    "\u202e=1",
    "\x00=1",
]
FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("//x")',
    "'=1",
    "''=1",
    " =1",
    "\t=1",
    "\r=1",
]
WAYS = "=+-@\t\r"


@pytest.fixture
def run(db: None) -> Run:
    """Workers, names, questions, prompts and responses that a spreadsheet would compute."""
    pool = Pool.objects.create(name="=pool")
    rows = [WorkerRow(i, f"={i}", f"@name {i}", {"country": "-land"}) for i in range(4)]
    catalog.take_workers(pool, rows)
    questions = QuestionSet.objects.create(name="+set")
    asked = [
        QuestionRow(i, f"-q{i}", "=cmd|' /C calc'!A0", ["=yes", "yes"], []) for i in range(300)
    ]
    catalog.take_questions(questions, asked)
    return make_run(name="=run", pool=pool, question_set=questions, k=1)


def cells(requester, name: str, *args: object, query: str = "") -> list[str]:
    text = "\n".join(lines_of(requester.get(admin_url(name, *args) + query)))
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


@pytest.mark.django_db
def test_no_export_has_a_formula(requester, run):
    play(run, lambda slip: "=yes" if slip.candidate.arm else "-no", most=8)
    engine.advance(run.pk)
    exports = [
        cells(requester, "run_export", run.pk, "csv"),
        cells(requester, "run_links_csv", run.pk),
        cells(requester, "run_export", run.pk, "answers"),
        cells(requester, "questionset_gold", run.question_set_id, query="?csv=1"),
    ]
    if open_of(run):
        exports.append(cells(requester, "run_open_csv", run.pk))
    for found in exports:
        assert any(cell.startswith("'") for cell in found)
        assert [cell for cell in found if cell[:1] and cell[0] in WAYS and not _number(cell)] == []


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.django_db
def test_open_questions_that_look_like_formulas_come_back_as_they_were(requester, run):
    engine.advance(run.pk)
    header, *rows = lines_of(requester.get(admin_url("run_open_csv", run.pk)))
    answered = "\n".join([f"{header},response", *(f"{row},'=yes" for row in rows)])
    confirm(requester, upload(requester, admin_url("run_import", run.pk), answered))
    assert Answer.objects.count() == len(rows) > 0
    assert set(Answer.objects.values_list("response", "right")) == {("=yes", True)}


@pytest.mark.parametrize("text", [*FORMULAS, *HIDDEN_FORMULAS])
def test_a_formula_becomes_text(text):
    assert writing.defuse_formula(text) == f"'{text}"
    assert row_parsers.restore_defused(writing.defuse_formula(text)) == text


@given(st.text(alphabet="'=+-@ \t\rax1＝\u200b\ufeff\x00"))
def test_exported_text_comes_back_unchanged(text):
    assert row_parsers.restore_defused(writing.defuse_formula(text)) == text


@pytest.mark.parametrize("cell", [-1, -0.5, None, "yes", "it's", "'quoted'", "a=b", ""])
def test_numbers_and_other_texts_stay(cell):
    assert writing.defuse_formula(cell) == cell
