"""Surveys: a row for each worker and a column for each question, from file to answers."""

import html

import pytest

from selection import engine
from selection.errors import Refused
from selection.imports import (
    catalog,
    column_plan,
    commit,
    gold_cells,
    row_parsers,
    surveys,
    uploads,
)
from selection.imports.readers import read_table
from selection.imports.row_parsers import QuestionRow
from selection.models import QuestionSet, RecordedAnswer, Run, Upload
from tests.pages import admin_url, text_of, upload
from tests.worlds import make_pool, make_run, open_of

from .readers.files import workbook

BIRDS = [("gull", "Is it a **gull**?"), ("bat-1", "Can it fly?"), ("tail", "Has it a tail?")]
NAMES = surveys.question_names(BIRDS)


def plan_of(header: list[str], *first: list[str]) -> column_plan.ColumnPlan:
    return surveys.recognise_survey(header, NAMES, first)


@pytest.mark.parametrize(
    "header",
    [
        ["Timestamp", "Prolific ID", "gull", "bat-1"],
        ["Zeitstempel", "What is your Prolific ID?", "1. Is it a **gull**?", "2) can it  fly"],
        ["Email address", "Which? [gull]", "Which? [Can it fly?]"],
        ["HITId", "AssignmentId", "WorkerId", "Input.image", "Answer.gull", "Answer.bat-1"],
        ["ASSIGNMENT:worker_id", "OUTPUT:gull", "OUTPUT:bat-1", "INPUT:image"],
        ["worker", "Q1: Is it a **gull**?", "Question 2. Can it fly?"],
    ],
)
def test_columns_are_known_by_key_or_text_of_the_question_however_forms_write_them(header):
    plan = plan_of(header)
    assert plan.title == surveys.TITLE
    assert sorted(plan.questions.values()) == ["bat-1", "gull"]
    assert not plan.missing_fields()


def test_a_text_is_known_without_its_markdown():
    names = surveys.question_names(
        [("q4", "Is 4 **even**? See [the rules](https://rules.example)"), ("q_5", "Is `5` _odd_?")]
    )
    found = surveys.plan_survey(["worker", "Is 4 even? See the rules", "Is 5 odd?"], names)
    assert found is not None
    assert list(found.questions.values()) == ["q4", "q_5"]


def test_two_questions_of_one_name_keep_their_column_names():
    names = surveys.question_names(
        [("a", "Is it a bird?"), ("b", "Is it a bird?"), ("Is it a bird", "")]
    )
    assert names == {"a": "a", "b": "b", "Is it a bird": "Is it a bird"}


def test_file_with_an_answer_a_row_is_not_taken_for_a_survey():
    plan = plan_of(["worker", "question", "response", "tail"])
    assert (plan.title, plan.questions) == ("answers by worker", {})
    assert plan_of(["worker", "tail"]).questions == {"tail": "tail"}
    assert plan_of(["worker", "nothing", "else"]).missing_fields()


def test_a_survey_without_a_column_of_workers_asks_for_it():
    plan = plan_of(["Started", "gull", "tail"])
    assert [field.name for field in plan.missing_fields()] == ["worker"]


def test_qualtrics_names_its_columns_three_times():
    raw = (
        "StartDate,Q1,Q2,Q3\n"
        'Start Date,What is your Prolific ID?,"Is it a **gull**?",Can it fly?\n'
        '"{""ImportId"":""startDate""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}",x\n'
        "2026-01-01,A1,yes,no\n2026-01-01,A2,,yes\n2026-01-01,,yes,yes\n"
    )
    table = read_table(raw, "f")
    table.rows = rows = iter(list(table.rows))
    first = [next(rows)[1], next(rows)[1]]
    plan = surveys.recognise_survey(table.header, NAMES, first)
    assert plan.fields == {"worker": "Q1"}
    found = [one for _, one in row_parsers.parse_rows(read_table(raw, "f"), plan)]
    assert [(one.worker, one.question, one.response) for one in found[:3]] == [
        ("A1", "gull", "yes"),
        ("A1", "bat-1", "no"),
        ("A2", "bat-1", "yes"),
    ]
    assert (found[3].line, found[3].why) == (6, "The column “Q1” is empty.")


def test_more_answers_than_a_file_may_hold_are_refused(monkeypatch):
    monkeypatch.setattr(row_parsers, "MOST_ROWS", 3)
    plan, table = plan_of(["worker", "gull", "tail"]), "worker,gull,tail\na,1,2\nb,3,4\n"
    with pytest.raises(Refused, match="line 3: there are more than 3 answers"):
        list(row_parsers.parse_rows(read_table(table, "f"), plan))


# -- into a run


def survey(run: Run, said: str = "yes", workers: int = 3) -> bytes:
    header = ["Zeit", "Prolific ID", *(f"Say yes to {i}." for i in range(4)), "Alter"]
    return workbook([header, *([1, f"w{i}", said, "", "no", said, 33] for i in range(workers))])


def bring(run: Run, raw: bytes, name: str = "f.xlsx") -> Upload:
    made = uploads.create_upload("answers", run, name, raw, at_once=False)
    uploads.go_on(made, float("inf"))
    return made


@pytest.mark.django_db
def test_survey_answers_wait_or_count_are_undone_and_remembered():
    run = make_run(slots=6, slots_per_worker=1)
    made = bring(run, survey(run))
    assert (made.state, made.accepted_rows, made.bad, made.passed) == ("done", 9, 0, 0)
    uploads.name_columns(made, column_plan.ColumnPlan(**made.plan), at_once=False)
    uploads.go_on(made, float("inf"))
    commit.commit_import(made.pk)
    kept = RecordedAnswer.objects.filter(candidate__run=run)
    assert {(one.question.key, one.response) for one in kept} == {
        ("q0", "yes"),
        ("q2", "no"),
        ("q3", "yes"),
    }
    commit.undo_import(made.pk)
    assert not RecordedAnswer.objects.exists()
    assert bring(run, survey(run)).plan["remembered"]
    other = make_run(questions=0, start=False, question_set=renamed())
    Run.objects.filter(pk=other.pk).update(status="running")
    other.refresh_from_db()
    strange = uploads.create_upload("answers", other, "f.xlsx", survey(run), at_once=False)
    assert not strange.plan["remembered"]
    assert strange.plan["questions"] == {"Say yes to 0.": "other"}


def renamed() -> QuestionSet:
    made = QuestionSet.objects.create(name="others")
    catalog.take_questions(made, [QuestionRow(1, "other", "Say yes to 0.", ["yes"], [])])
    return made


@pytest.mark.django_db
def test_answer_to_an_open_assignment_counts_at_once():
    run = make_run()
    engine.advance(run.pk)
    slip = open_of(run)[0]
    raw = f"worker,{slip.question.key}\n{slip.candidate.worker.key},yes\n".encode()
    commit.commit_import(bring(run, raw).pk)
    slip.refresh_from_db()
    assert slip.answer.response == "yes"


@pytest.mark.django_db
def test_ticked_choices_may_stand_with_commas_between_them():
    made = QuestionSet.objects.create(name="several")
    way = {"multiple": True}
    row = QuestionRow(1, "fly", "Which fly?", ["gull", "bat"], ["gull", "bat", "whale"], way)
    catalog.take_questions(made, [row])
    question = made.questions.get()
    assert gold_cells.fit_response("gull, bat", question.choices, way) == "gull | bat"
    assert question.grade(gold_cells.fit_response("bat;gull", question.choices, way))
    assert gold_cells.fit_response("gull, cow", question.choices, way) == "gull, cow"


@pytest.mark.django_db
def test_the_preview_shows_which_column_is_which_question_and_lets_her_choose(requester):
    run = make_run(pool=make_pool(3))
    page = upload(requester, admin_url("run_import", run.pk), survey(run))
    words = text_of(page)
    assert "looks like a survey" in words
    assert "2 columns left out: Zeit, Alter · Assign to questions" in words
    assert "Worker ID ← Prolific ID, 4 questions ← columns of the same name · Change" in words
    chosen = {"columns": "1", "worker": "1", "shape": "survey", "questions": ["2", "4"]}
    again = text_of(requester.post(page.request["PATH_INFO"], chosen, follow=True))
    assert "6 rows to import" in again
    assert "Say yes to 3." in again.split("columns left out:")[1].split("·")[0]
    nothing = requester.post(page.request["PATH_INFO"], chosen | {"questions": []}, follow=True)
    assert "Choose at least one column with answers" in text_of(nothing)
    one = chosen | {"shape": "", "question": "", "response": "2"}
    assert "Choose the column." in text_of(
        requester.post(page.request["PATH_INFO"], one, follow=True)
    )


@pytest.mark.django_db
def test_file_with_workers_but_no_question_column_explains_the_options(requester):
    run = make_run(n=3, k=1, questions=5)
    at = admin_url("run_import", run.pk)
    words = text_of(upload(requester, at, "worker,Frage 1\nw0,yes\n"))
    assert "No column has the name of a question in this run. If columns hold answers" in words
    assert "Enter the ID or the text of the question that a column answers." in words


# -- columns that name no question

STRANGE = ["Prolific ID", "Zeit", "Frage 7", "Say yes to 1.", "Frage 9"]


def strange(named: bool = True) -> bytes:
    header = STRANGE if named else [one.replace("Say yes to", "Nr.") for one in STRANGE]
    return workbook([header, *([f"w{i}", 12, "yes", "no", "yes"] for i in range(3))])


def stored(run: Run) -> set[tuple[str, str, str]]:
    kept = RecordedAnswer.objects.filter(candidate__run=run)
    return {(one.candidate.worker.key, one.question.key, one.response) for one in kept}


def expected(*questions: str) -> set[tuple[str, str, str]]:
    return {(f"w{i}", key, "no" if key == "q1" else "yes") for i in range(3) for key in questions}


@pytest.mark.django_db
@pytest.mark.parametrize("named", [True, False])
def test_a_column_that_names_no_question_is_given_one_on_the_page(requester, named):
    """By the question's key or its text; also where none of the columns names any."""
    run = make_run(pool=make_pool(3))
    page = upload(requester, admin_url("run_import", run.pk), strange(named))
    assert b'<option value="q7">Say yes to 7.</option>' in page.content
    assert "Frage 7" in text_of(page)
    ticked = {"questions": ["3"]} if named else {}
    said = {"columns": "1", "worker": "0", "other-2": "q7", "other-4": "say yes to 9", **ticked}
    again = requester.post(page.request["PATH_INFO"], said, follow=True)
    assert b'value="q9"' in again.content
    requester.post(page.request["PATH_INFO"])
    assert stored(run) == expected("q7", "q9", *(["q1"] if named else []))


@pytest.mark.django_db
def test_impossible_mapping_is_explained_and_changes_no_plan(requester):
    run = make_run(pool=make_pool(3))
    page = upload(requester, admin_url("run_import", run.pk), strange())
    before = Upload.objects.get().plan
    for said, told in [
        ({"other-2": "q777"}, "There is no question “q777” in this run"),
        ({"other-2": "q1"}, "Two columns would have the answers to “q1”"),
        ({"other-2": "q5", "other-4": "Say yes to 5."}, "Two columns would have the answers to"),
        ({"other-2": "q5", "worker": "2"}, "The column with the worker's id has no answers."),
        ({"questions": []}, "Choose at least one column with answers, and the question"),
    ]:
        given = {"columns": "1", "worker": "0", "shape": "survey", "questions": ["3"]} | said
        answer = requester.post(page.request["PATH_INFO"], given, follow=True)
        assert told in html.unescape(text_of(answer))
        assert Upload.objects.get().plan == before


@pytest.mark.django_db
def test_a_file_with_an_answer_a_row_is_not_asked_for_questions(requester):
    run, raw = make_run(pool=make_pool(3)), b"worker,question,response\nw1,q1,yes\n"
    page = upload(requester, admin_url("run_import", run.pk), raw)
    assert b"questions-asked" not in page.content
