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


# -- what belongs to no answer


@pytest.mark.parametrize(
    "mark", ["NaN", "nan", "#N/A", "<NA>", "NA", "null", "n/a", "-", "#NV", "k. A."]
)
def test_a_mark_of_a_missing_answer_is_not_wrong(mark):
    text = f"worker;Aufgabe;Antwort\nann;q1;{mark}\nann;q2;no\n"
    assert refusal(csv(text)) == f"answers.csv, line 2: “{mark}” stands for a missing answer."
    left = read_keyed_answers(File("a.csv", text.encode(), leave_out=True), KEY)
    assert left.rows == [("ann", "q2", 1)]
    known = File("key.csv", f"task,label\nq1,{mark}\n".encode())
    assert rows(csv(f"worker,task,label\nann,q1,{mark}\n"), known) == [("ann", "q1", True)]


SCORES = [("m1", "q1", 1.0), ("m1", "q2", 0.0), ("m2", "q2", 1.0)]
MATRICES = [
    "model,q1,q2,mean\nm1,1,0,0.5\nm2,NA,1,1\n",
    "Modell;q1;q2;Durchschnitt\nm1;1;0;0.5\nm2;;1;1\nGesamt;1;0.5;0.7\n",
    "Unnamed: 0,model,q1,q2\n0,m1,1,0\n1,m2,NaN,1\n",
    "index\tmodel\tq1\tq2\trank\n0\tm1\t1\t0\t2\n1\tm2\t-\t1\t1\n",
    "question,m1,m2,moyenne\nq1,1,,1\nq2,0,1,0.5\nAverage,0.5,1,0.7\n",
    "...1,model,q1,q2\n1,m1,1,0\n2,m2,#N/A,1\n",
]


@pytest.mark.parametrize("text", MATRICES)
def test_means_and_running_numbers_are_no_questions(text):
    assert sorted(read_keyed_answers(csv(text), None).rows) == SCORES


def test_columns_that_were_not_read_are_named():
    keyed = read_keyed_answers(csv(MATRICES[3]), None)
    assert keyed.unread == ["index", "rank"]
    answers = csv("worker,task,label,seconds\nann,q1,yes,3\n")
    key = File("key.csv", b"task,label,hint\nq1,yes,x\n")
    assert read_keyed_answers(answers, key).unread == ["seconds", "hint"]


def test_a_score_beside_the_key_is_asked_about():
    text = (
        "model,question,answer,ground_truth,answer_correctness\n"
        'm1,q1,"Paris, in France",Paris,0.9\nm1,q2,Rome,Rome,1\n'
    )
    columns = find_open_columns(csv(text), None)
    assert [c.options for c in columns.choices] == [["answer_correctness", "answer = ground_truth"]]
    picked = {"metric": "answer_correctness"}
    file = File("a.csv", text.encode(), picked=picked)
    assert read_keyed_answers(file, None).grades == [0.9, 1.0]


TICKED = (
    "question,prompt,answer,choices,kind\nq1,Which?,gull|owl,gull|bat|owl,multiple\n"
    "q2,Is 2?,no,yes|no,\n"
)
BOXES = [
    "worker,q1/gull,q1/bat,q1/owl,q2\nann,1,0,1,no\n",
    "worker;q1[gull];q1[bat];q1[owl];q2\nann;Ja;Nein;Ja;no\n",
    "record_id,q1___gull,q1___bat,q1___owl,q2\nann,1,0,1,no\n",
    "worker,Which? [gull],Which? [bat],Which? [owl],q2\nann,x,,x,no\n",
    "worker,q1: gull,q1: bat,q1: owl,q2\nann,gull,,owl,no\n",
    "worker,q1 (gull),q1 (bat),q1 (owl),q2\nann,evet,hayır,evet,no\n",
    'worker,q1,q2\nann,"gull\nowl",no\n',
]


@pytest.mark.parametrize("text", BOXES)
def test_a_column_for_each_ticked_choice_is_one_answer(text):
    keyed = read_keyed_answers(csv(text), File("key.csv", TICKED.encode()))
    assert sorted(keyed.rows) == [("ann", "q1", 1), ("ann", "q2", 1)]


@pytest.mark.parametrize("codes", ["q1[SQ001],q1[SQ002]", "q1___1,q1___2", "q1/a,q1/b"])
def test_ticks_by_code_are_refused(codes):
    sentence = refusal(csv(f"worker,{codes},q2\nann,1,0,no\n"), File("key.csv", TICKED.encode()))
    assert "seem to hold the ticks of “q1” by codes" in sentence
    assert ("REDCap" in sentence) == ("___" in codes)


@pytest.mark.parametrize("mark", [" ", "\t", ",", ";"])
def test_tables_that_r_writes_are_read(mark):
    lines = ['"worker" "task" "label"', '"1" "ann" "q1" "yes"', '"2" "ann" "q2" "no"']
    text = "\n".join(lines).replace(" ", mark) + "\n"
    assert rows(csv(text)) == [("ann", "q1", True), ("ann", "q2", True)]


def test_a_key_with_two_readings_is_asked_about():
    key = File("key.csv", b"question,choices,answer\nq1,yes|no,1\nq2,yes|no,0\n")
    answers = csv("worker,question,response\nann,q1,yes\nann,q2,no\n")
    columns = find_open_columns(answers, key)
    (choice,) = columns.choices
    assert (columns.role, choice.name, choice.options) == (
        "key",
        "reading",
        ["numbers from 0", "1 is yes"],
    )
    assert choice.words["1 is yes"] == "1 for yes, 0 for no: “1” is “yes”"
    assert "choose the “reading”" in refusal(answers, key)
    picked = File("key.csv", key.content, picked={"reading": "1 is yes"})
    assert read_keyed_answers(answers, picked).grades == [1, 1]


# -- tools

OPTIONS = [{"id": "yes", "text": "Yes!"}, {"id": "no", "text": "No!"}]
PRODIGY = {
    "text": "q1",
    "_input_hash": 1,
    "_task_hash": 2,
    "options": OPTIONS,
    "_annotator_id": "ann",
}
DEEPEVAL = {
    "hyperparameters": {"model": "ann"},
    "testCases": [{"name": "q1", "success": True, "metricsData": [{"name": "x", "score": 0.8}]}],
}
WANDB = {
    "columns": ["model", "question", "score"],
    "data": [["ann", "q1", 1]],
    "ncols": 3,
    "nrows": 1,
}
LANGSMITH = "inputs.q,outputs.a,feedback.correctness,execution_time,example_id"
ALONE = {
    "Appen": "_unit_id,_worker_id,_trust,_ip,bird,bird_gold\nq1,ann,0.9,1.2.3.4,yes,yes\n",
    "DeepEval": json.dumps(DEEPEVAL),
    "LangSmith": f"{LANGSMITH},model\nx,y,1,0.2,q1,ann\n",
    "a table of Weights & Biases": json.dumps(WANDB),
}
KEYED = {
    "Prodigy": json.dumps(PRODIGY | {"accept": ["yes"], "answer": "accept"})
    + json.dumps(PRODIGY | {"accept": ["no"], "answer": "reject", "text": "q2"}),
    "Gorilla": "Participant Private ID,Spreadsheet Row,Response\nann,q1,yes\nann,q1,\n",
}


@pytest.mark.parametrize("tool", [*ALONE, *KEYED])
def test_files_of_tools_are_read(tool):
    if tool in ALONE:
        assert rows(csv(ALONE[tool]), None) == [("ann", "q1", True)]
    else:
        assert rows(csv(KEYED[tool])) == [("ann", "q1", True)]


@pytest.mark.parametrize(
    ("text", "tool", "remedy"),
    [
        (
            '"Name","State","Runtime","acc"\n"r","done","1","0.5"\n',
            "Weights & Biases",
            "wandb.Table",
        ),
        ('{"accuracy": 0.5, "correct_count": 1, "total_count": 2}', "BFCL", "for all questions"),
        (f"{LANGSMITH}\nx,y,1,0.2,q1\n", "LangSmith", "“model” has to be added"),
        (
            json.dumps(PRODIGY | {"spans": [], "answer": "accept"}),
            "Prodigy",
            "no column “response”",
        ),
    ],
)
def test_files_of_tools_without_grades_are_refused_by_name(text, tool, remedy):
    sentence = refusal(csv(text), None)
    assert tool in sentence
    assert remedy in sentence


def test_prices_and_dates_are_compared_in_any_notation():
    key = File("key.csv", b"task;label\nq1;65,87\nq2;24.03.2025\nq3;Rewe\n")
    answers = csv("worker,task,label\nann,q1,65.87\nann,q2,24.3.2025\nann,q3,rewe\n")
    assert [grade for *_, grade in rows(answers, key)] == [True, True, True]
