"""Answers with their key, from every kind of file, to graded rows."""

import io
import json

import pytest
import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.errors import Refused
from selection.imports import uploads
from selection.imports.keyed_answers import File, read_keyed_answers, read_upload
from selection.imports.open_columns import find_open_columns
from selection.imports.row_parsers import QuestionRow

pytestmark = pytest.mark.any_database

EXPECTED = [("ann", "q1", True), ("ann", "q2", False), ("bob", "q1", False), ("bob", "q2", True)]
KEY = File("key.csv", b"task,label\nq1,yes\nq2,no\n")


def csv(text: str, name: str = "answers.csv") -> File:
    return File(name, text.encode())


def workbook(rows: list[list[str]]) -> File:
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        sheet = book.add_worksheet()
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    return File("answers.xlsx", content.getvalue())


def label_studio() -> File:
    def annotation(author: int, choice: str, truth: bool = False) -> dict[str, object]:
        value = {
            "from_name": "c",
            "to_name": "t",
            "type": "choices",
            "value": {"choices": [choice]},
        }
        return {"completed_by": author, "ground_truth": truth, "result": [value]}

    tasks = [
        {
            "id": 1,
            "data": {"id": "q1", "text": "Is it?"},
            "annotations": [annotation(9, "yes", True), annotation(1, "yes"), annotation(2, "no")],
        },
        {
            "id": 2,
            "data": {"id": "q2", "text": "Is it not?"},
            "annotations": [annotation(9, "no", True), annotation(1, "yes"), annotation(2, "no")],
        },
    ]
    return File("export.json", json.dumps(tasks).encode())


def rows(answers: File, key: File | dict[str, QuestionRow] | None = KEY) -> list[object]:
    return sorted(read_keyed_answers(answers, key).rows)


def refusal(answers: File, key: File | None = KEY) -> str:
    with pytest.raises(Refused) as caught:
        read_keyed_answers(answers, key)
    return str(caught.value)


LINES = "worker,task,label\nann,q1,yes\nann,q2,yes\nbob,q1,no\nbob,q2,no\n"
TABLE = [line.split(",") for line in LINES.split()]
MTURK = "\n".join(
    ["HITId,AssignmentId,WorkerId,Input.id,Answer.label"]
    + [f"h,a{i},{row[0]},{row[1]},{row[2]}" for i, row in enumerate(TABLE[1:])]
)
TOLOKA = "\n".join(
    ["ASSIGNMENT:worker_id\tINPUT:id\tINPUT:text\tOUTPUT:label\tGOLDEN:label"]
    + [f"{w}\t{q}\t{q}?\t{said}\t{'yes' if q == 'q1' else 'no'}" for w, q, said in TABLE[1:]]
)


@pytest.mark.parametrize(
    "answers",
    [
        csv(LINES),
        csv(LINES.replace(",", ";")),
        csv("Bearbeiter;Frage;Antwort\n" + LINES.split("\n", 1)[1].replace(",", ";")),
        workbook(TABLE),
        csv(MTURK),
        csv("worker,q1,q2\nann,yes,yes\nbob,no,no\n"),
        csv(json.dumps([dict(zip(TABLE[0], row, strict=True)) for row in TABLE[1:]])),
    ],
    ids=["csv", "semicolons", "german", "xlsx", "mturk", "survey", "json"],
)
def test_formats_are_graded_by_a_key_file(answers):
    assert rows(answers) == EXPECTED


@pytest.mark.parametrize(
    "answers",
    [
        csv("worker,task,label,gold\nann,q1,yes,yes\nann,q2,yes,no\nbob,q1,no,yes\nbob,q2,no,no\n"),
        csv(TOLOKA),
    ],
    ids=["column", "toloka"],
)
def test_a_file_may_have_its_own_key(answers):
    assert rows(answers, None) == EXPECTED


@pytest.mark.parametrize(
    "name",
    [
        *("Richtig", "korrekt", "Lösung", "Musterlösung", "Wahrheit"),
        *("correct", "truth", "gold", "expected"),
        *("vérité", "corrigé", "bonne réponse", "correcto", "verdad", "Solución"),
    ],
)
def test_single_column_of_correct_answers_is_recognised(name):
    lines = "ann,q1,yes,yes\nann,q2,yes,no\nbob,q1,no,yes\nbob,q2,no,no\n"
    assert rows(csv(f"worker,task,label,{name}\n" + lines), None) == EXPECTED
    assert rows(csv(LINES), csv(f"Frage,{name}\nq1,yes\nq2,no\n", "key.csv")) == EXPECTED


def test_two_vague_columns_are_not_taken_for_the_key():
    lines = "ann,q1,yes,yes,ja\nbob,q1,no,yes,nein\n"
    assert "no column with the correct answers" in refusal(
        csv("worker,task,label,truth,correct\n" + lines), None
    )
    lines = "ann,q1,yes,yes,1\nbob,q1,no,yes,0\n"
    marked = csv("worker,task,label,truth,correct\n" + lines)
    assert rows(marked, None) == [("ann", "q1", True), ("bob", "q1", False)]
    assert rows(csv("worker,task,label,gold,correct\n" + lines), None) == [
        ("ann", "q1", True),
        ("bob", "q1", False),
    ]


def test_label_studios_ground_truth_is_the_key():
    expected = [("1", "q1", True), ("1", "q2", False), ("2", "q1", False), ("2", "q2", True)]
    assert rows(label_studio(), None) == expected


def test_a_question_set_grades_by_its_own_rules():
    question = QuestionRow(0, "q1", "How many?", ["3"], [], {"number": True, "tolerance": "1"})
    answers = csv("worker,task,label\nann,q1,4\nbob,q1,5\n")
    assert rows(answers, {"q1": question}) == [("ann", "q1", True), ("bob", "q1", False)]


def test_the_key_may_be_a_file_of_gold_questions_with_several_accepted_answers():
    key = csv("question,prompt,answer\nq1,Is it?,yes|yep\nq2,Is it not?,no\n", "gold.csv")
    answers = csv("worker,task,label\nann,q1,yep\nbob,q2,yes\n")
    assert rows(answers, key) == [("ann", "q1", True), ("bob", "q2", False)]


def test_the_first_of_two_answers_counts_and_the_others_are_counted():
    keyed = read_keyed_answers(csv(LINES + "ann,q1,no\nann,q9,no\ncat,q9,no\n"), KEY)
    assert sorted(keyed.rows) == EXPECTED
    assert (keyed.repeated, keyed.left_out, keyed.idle) == (1, 2, 1)


def test_a_column_skill_does_not_make_two_answers_of_one_worker_to_a_question():
    keyed = read_keyed_answers(
        csv("worker,task,label,skill\nann,q1,yes,1\nann,q1,no,2\nbob,q2,no,1\n"), KEY
    )
    assert sorted(keyed.rows) == [("ann", "q1", True), ("bob", "q2", True)]
    assert keyed.repeated == 1


def test_a_key_is_read_early_only_to_recognise_a_survey():
    contradictory = File("key.csv", b"task,label\nq1,yes\nq1,no\n")
    assert find_open_columns(csv("worker,question,answer\nann,q1,yes\n"), contradictory) is None
    with pytest.raises(Refused, match=r"key\.csv, line 3"):
        find_open_columns(csv("worker,q1,Extra\nann,yes,x\n"), contradictory)


def test_a_large_upload_is_refused_before_it_is_read(monkeypatch):
    file = SimpleUploadedFile("past.csv", LINES.encode())
    assert read_upload(file) == File("past.csv", LINES.encode())
    monkeypatch.setattr(uploads, "MOST_FILE", len(LINES) - 1)
    file.seek(0)
    with pytest.raises(Refused, match=r"past\.csv is larger than"):
        read_upload(file)
    assert file.tell() == 0
    assert read_upload(None) is None


@pytest.mark.parametrize(
    ("answers", "key", "sentence"),
    [
        (csv(LINES), None, "answers.csv has no column with the correct answers, such as “gold”"),
        (
            csv("worker,task\nann,q1\n"),
            KEY,
            "answers.csv, line 1: there is no column “response”. The file needs worker, "
            "question, response; it has worker, task.",
        ),
        (
            csv("worker,task,label\nann,q7,yes\n"),
            KEY,
            "answers.csv has no answer to a question of key.csv: its first question is “q7”, and "
            "the first in the key is “q1”.",
        ),
        (
            csv(LINES + "bob,q3,\n"),
            KEY,
            "answers.csv, line 6: The column “label” is empty.",
        ),
        (
            csv(LINES),
            csv("task,label\nq1,yes\nq1,no\n", "key.csv"),
            "key.csv, line 3: “q1” has another correct answer than in line 2.",
        ),
        (
            csv("worker,task,label,gold\nann,q1,yes,yes\nbob,q1,yes,no\n"),
            None,
            "answers.csv, line 3: “q1” has another correct answer than in line 2.",
        ),
        (csv("worker,task,label\n"), KEY, "answers.csv has no answers below its header."),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(answers, key, sentence):
    assert refusal(answers, key).startswith(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "Modell;q1;q2\nann;WAHR;FALSCH\nbob;FALSCH;WAHR\n",
        "Modell;Frage;richtig\nann;q1;wahr\nann;q2;falsch\nbob;q1;falsch\nbob;q2;wahr\n",
        ",model,question,correct\n0,ann,q1,1\n1,ann,q2,0\n2,bob,q1,0\n3,bob,q2,1\n",
    ],
    ids=["German matrix", "German list", "index without a name"],
)
def test_scores_are_read_with_words_of_other_languages_and_an_index(text):
    assert rows(csv(text), None) == EXPECTED


def test_matrix_without_a_first_name_needs_the_meaning_of_its_rows():
    assert "the first column has no name" in refusal(csv(",q1,q2\nann,1,0\nbob,0,1\n"), None)
