"""Titles above the table: the header row is found, or chosen by a person."""

import io
import json

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from selection.errors import Refused
from selection.imports import column_plan, commit, platforms, uploads
from selection.imports.column_plan import ColumnPlan
from selection.imports.readers import read_table
from selection.models import Upload
from tests import file_rows
from tests.pages import admin_url, text_of
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db


def workbook(*rows: list[object], title: str = "", below: int = 1, width: int = 3) -> bytes:
    """With a title in merged cells, so many empty rows below it, and then these rows."""
    book = openpyxl.Workbook()
    sheet = book.active
    if title:
        sheet["A1"] = title
        sheet.merge_cells(start_row=1, end_row=1, start_column=1, end_column=width)
        sheet["A1"].font = openpyxl.styles.Font(bold=True, size=16)
    first = 2 + below if title else 1
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            sheet.cell(first + i, 1 + j, cell)
    raw = io.BytesIO()
    book.save(raw)
    return raw.getvalue()


PEOPLE = [["worker", "name", "country"], ["w1", "Ann", "de"], ["w2", "Ben", "fr"]]
GOLD = [["question", "prompt", "answer"], ["q1", "A gull?", "yes"], ["q2", "A bat?", "no"]]
SURVEY = [["Wann", "Worker ID", "q1", "q2"], ["1 May", "w0", "yes", "no"], ["", "w1", "no", "no"]]


def taken(kind: str, target, raw: bytes) -> Upload:
    upload = uploads.create_upload(kind, target, "file.xlsx", raw)
    assert upload.state == Upload.State.DONE, upload.error
    return commit.commit_import(upload.pk)[0]


@pytest.mark.parametrize("title", ["", "Workers", "Team 2026", "Annotators of spring"])
@pytest.mark.parametrize("below", [0, 1, 3])
def test_workers_below_a_merged_title_are_found(title, below):
    pool = make_pool(0)
    upload = taken("workers", pool, workbook(*PEOPLE, title=title, below=below))
    assert upload.plan["header"] == (2 + below if title else 0)
    rows = list(pool.workers.values_list("key", "name", "attributes"))
    assert rows == [("w1", "Ann", {"country": "de"}), ("w2", "Ben", {"country": "fr"})]


def test_questions_and_a_survey_below_a_title_are_found():
    questions = make_questions(0)
    taken("questions", questions, workbook(*GOLD, title="Gold of spring"))
    assert list(questions.questions.values_list("key", "accepted")) == [
        ("q1", ["yes"]),
        ("q2", ["no"]),
    ]
    run = make_run(n=3, k=1, question_set=questions)
    taken("answers", run, workbook(*SURVEY, title="Answers (anonymous)", width=4))
    assert sum(row.recorded.count() + row.asked for row in run.candidates.all()) == 4


def test_notes_in_several_cells_and_in_csv_are_passed_over():
    text = "Export of,1 May 2026\nby:,Ann\n\nworker,name,country\nw1,Ann,de\n"
    pool = make_pool(0)
    assert taken("workers", pool, text.encode()).plan["header"] == 4
    assert pool.workers.get().attributes == {"country": "de"}


TITLES = ["Workers of spring", "Workers\nof spring\n", "Spring, 2026", "Spring: us & them | 5"]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("between", [";", "\t", ",", "|"])
def test_title_without_separators_is_skipped(title, between):
    table = [between.join(row) for row in PEOPLE]
    text = "\r\n".join([title.replace(between, " "), *table, ""])
    pool = make_pool(0)
    taken("workers", pool, text.encode())
    rows = list(pool.workers.values_list("key", "name", "attributes"))
    assert rows == [("w1", "Ann", {"country": "de"}), ("w2", "Ben", {"country": "fr"})]


@pytest.mark.parametrize(
    "ids",
    ["w1\nw2\nw3", "w1\nw2\nSmith, Ann", "w1\nw2\nw3\nLee, Jo\nSmith, Ann", "w1\na,b\nw2\nw3"],
)
def test_a_list_in_which_some_have_a_comma_is_a_list(ids):
    assert read_table(ids, "f.txt").what == "a list, one to a line"


@pytest.mark.parametrize(
    ("text", "line", "header"),
    [
        ("w1\nw2\nw3\n", 1, ["w1"]),
        ("worker\nname\n", 1, ["worker"]),
        ("worker,,\nw1,x,\n", 1, ["worker", "", ""]),
        ("Kennung,Land\nworker,de\n", 1, ["Kennung", "Land"]),
        ("Title,\n,\nKennung,Land\nw1,de\n", 3, ["Kennung", "Land"]),
    ],
)
def test_header_is_not_taken_for_a_title(text, line, header):
    table = read_table(text, "file.csv", fits=platforms.header_test(column_plan.WORKERS))
    assert (table.line, table.header, table.titled) == (line, header, line > 1)


def test_a_row_that_cannot_be_read_is_still_refused_when_it_is_reached():
    table = read_table(
        'worker,name\nw1,x\nw2,"', "f.csv", fits=platforms.header_test(column_plan.WORKERS)
    )
    assert next(table.rows) == (2, ["w1", "x"])
    with pytest.raises(Refused, match="quotation marks"):
        next(table.rows)


UNKNOWN = [["Kennung", "Wohnort", "Alter"], ["w1", "Rom", 40], ["w2", "Bonn", 30]]


def unclear() -> bytes:
    """No row has a name that is known, and notes are as wide as the table."""
    return workbook(["a", "b", "c"], ["d", "e", "f"], *UNKNOWN)


def test_page_takes_the_chosen_header_row(requester):
    pool = make_pool(0)
    at = admin_url("pool_import", pool.pk)
    page = requester.post(at, {"file": SimpleUploadedFile("x.xlsx", unclear())}, follow=True)
    assert "or set the header row" in text_of(page)
    url = page.request["PATH_INFO"]
    page = requester.post(url, {"columns": "1", "header": "99"}, follow=True)
    assert "has nothing in row 99" in text_of(page)
    page = requester.post(url, {"columns": "1", "header": "3"}, follow=True)
    assert "Row 3 is the header row; rows above it are ignored." in text_of(page)
    chosen = {"columns": "1", "header": "3", "worker": "0", "attributes": ["1"]}
    page = requester.post(url, chosen, follow=True)
    assert "Import 2 workers" in text_of(page)
    requester.post(url, follow=True)
    assert list(pool.workers.values_list("key", "attributes")) == [
        ("w1", {"wohnort": "Rom"}),
        ("w2", {"wohnort": "Bonn"}),
    ]


def test_second_file_with_the_same_header_is_read_alike_at_any_row():
    pool = make_pool(0)
    upload = uploads.create_upload("workers", pool, "a.xlsx", workbook(*UNKNOWN))
    plan = column_plan.apply_column_choices(
        ColumnPlan(**upload.plan), upload.header, [("Kennung", "worker")]
    )
    uploads.name_columns(upload, plan)
    upload = taken("workers", pool, workbook(["Land", "Stadt"], *UNKNOWN, title="Titel", below=2))
    assert (upload.plan["header"], pool.workers.count()) == (5, 2)


def test_api_reports_and_takes_the_header_row(token):
    api = Client(headers={"authorization": f"Bearer {token}"})
    pool = make_pool(0)
    sent = {"file": SimpleUploadedFile("x.xlsx", unclear())}
    made = api.post(f"/api/pools/{pool.pk}/files", sent).json()
    assert "If another row names the columns, say which." in made["error"]
    at = f"/api/files/{made['id']}"
    beyond = api.patch(at, json.dumps({"header_line": 50}), content_type="application/json").json()
    assert "has nothing in row 50" in beyond["error"]
    body = json.dumps({"header_line": 3, "columns": {"Kennung": "worker"}})
    said = api.patch(at, body, content_type="application/json").json()
    assert (said["header_line"], said["accepted_rows"], said["state"]) == (3, 2, "done")
    api.post(f"{at}/take", {}, content_type="application/json")
    assert set(pool.workers.values_list("key", flat=True)) == {"w1", "w2"}


def test_recorded_answers_and_gold_of_a_replay_may_have_a_title():
    assert file_rows.parse_gold("My gold,\n,\ntask,label\nt1,yes\n", "g.csv") == {"t1": "yes"}
    rows, bad = file_rows.parse_answers("Batch,,\n\nworker,task,label\nw1,t1,yes\n", "a.csv")
    assert [(row.worker, row.response) for row in rows] == [("w1", "yes")]
    assert bad == []
