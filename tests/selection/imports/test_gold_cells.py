"""Cells of gold questions and of answers, as datasets, forms and platforms write them."""

import io
import json

import pytest
from arro3.core import Array, DataType, Table
from arro3.io import write_parquet

from selection.errors import Refused
from selection.imports import gold_cells
from selection.imports.keyed_answers import FaultyRows, File, read_keyed_answers
from selection.imports.readers import table as tables

from .readers.files import said

CAPITALS = ["Rome", "Paris"]
FILLED = ["x", "z", "w"]
MMLU = [{"question": "Q?", "choices": CAPITALS, "answer": answer} for answer in (1, 0)]
ARC = {"text": CAPITALS, "label": ["A", "B"]}
STEM = {
    "stem": "Q?",
    "choices": [{"text": c, "label": n} for c, n in zip(CAPITALS, "12", strict=True)],
}
MESSAGES = [{"role": "user", "content": "Q?"}]

GOLD = {
    "question,answer": ("question,answer\nQ?,Paris\n", []),
    "letters": ("id,question,choices,answer\n1,Q?,Rome|Paris,b)\n", CAPITALS),
    "option columns": ("question,A,B,answer\nQ?,Rome,Paris,B\n", CAPITALS),
    "named options": ("prompt,option_1,option_2,target\nQ?,Rome,Paris,Paris\n", CAPITALS),
    "numbers from 0": (json.dumps(MMLU), CAPITALS),
    "numbers from 1": ("question,choices,answer\nQ?,Rome|Paris,2\n", CAPITALS),
    "ARC": (json.dumps([{"question": "Q?", "choices": ARC, "answerKey": "B"}]), CAPITALS),
    "ARC lines": (json.dumps({"id": "x", "question": STEM, "answerKey": "2"}), CAPITALS),
    "Inspect": (json.dumps([{"input": MESSAGES, "target": "B", "choices": CAPITALS}]), CAPITALS),
    "promptfoo": ("vars.q,__expected\nQ?,equals: Paris\n", []),
    "promptfoo tests": (
        json.dumps([{"vars": {"q": "Q?"}, "assert": [{"type": "equals", "value": "Paris"}]}]),
        [],
    ),
    "OpenAI Evals": (json.dumps({"input": MESSAGES, "ideal": ["Paris"]}), []),
    "an object of options": (
        json.dumps([{"question": "Q?", "options": {"A": "Rome", "B": "Paris"}, "answer": "B"}]),
        CAPITALS,
    ),
    "an object in a cell": (
        'question;Optionen;Antwort\nQ?;"{""A"": ""Rome"", ""B"": ""Paris""}";(B)\n',
        CAPITALS,
    ),
    "ARC as pandas writes it": (
        "question,choices,answer\nQ?,\"{'text': ['Rome', 'Paris'], 'label': ['A', 'B']}\",B\n",
        CAPITALS,
    ),
    "wrong answers": (
        json.dumps({"question": "Q?", "correct_answer": "Paris", "incorrect_answers": ["Rome"]}),
        ["Paris", "Rome"],
    ),
    "distractors": ("question,distractor1,correct_answer\nQ?,Rome,Paris\n", ["Paris", "Rome"]),
    "falsche Antworten": (
        "Frage;falsche Antworten;richtige Antwort\nQ?;Rome;Paris\n",
        ["Paris", "Rome"],
    ),
    "other case": ("question,choices,answer\nQ?,Rome|Paris,PARIS\n", CAPITALS),
    "list of Python": ("question,choices,answer\nQ?,\"['Rome', 'Paris']\",1\n", None),
}


@pytest.mark.parametrize("name", GOLD)
def test_gold_files_of_each_form_are_read(name):
    raw, choices = GOLD[name]
    row = said("questions", raw)[1][0]
    if choices is None:  # 1 may be the first or the second
        assert "may be “Paris” (numbers from 0), or “Rome” (numbers from 1)" in row.why
        return
    assert (row.prompt, row.accepted, row.choices) == ("Q?", ["Paris"], choices)


@pytest.mark.parametrize(
    ("raw", "accepted"),
    [
        ("question,A,B,C,D,answer\nQ?,x,,z,w,C\n", ["z"]),
        (json.dumps({"question": "Q?", "choices": ["x", "", "z"], "answer": "C"}), ["z"]),
        ("question,option1,option2,option3,answer\nQ?,x,,z,3\n", ["z"]),
        (
            json.dumps(
                {"question": "Q?", "options": {"A": "x", "B": None, "C": "z"}, "answer": "c"}
            ),
            ["z"],
        ),
    ],
)
def test_an_absent_option_shifts_no_letter(raw, accepted):
    assert said("questions", raw)[1][0].accepted == accepted


def items(*rows):
    return "\n".join(
        json.dumps({"question": f"Q{i}?", "choices": choices, "answer": answer})
        for i, (choices, answer) in enumerate(rows)
    )


NUMBERS, LETTERS = ["8", "2", "24", "120"], ["a", "b", "c", "d"]
LABELLED = {"text": ["2", "3", "4", "1"], "label": ["1", "2", "3", "4"]}
READ = {
    "numbers from 0 for the whole column": (
        items((NUMBERS, 2), (LETTERS, 0), (LETTERS, 3)),
        [["24"], ["a"], ["d"]],
    ),
    "numbers from 1 for the whole column": (
        items((NUMBERS, 2), (LETTERS, 1), (LETTERS, 4)),
        [["2"], ["a"], ["d"]],
    ),
    "texts of one list of choices": (items((NUMBERS, "2"), (NUMBERS, "8")), [["2"], ["8"]]),
    "labels that the file states": (
        json.dumps({"question": "Q?", "choices": LABELLED, "answerKey": "2"}),
        [["3"]],
    ),
    "letters although one is a choice": (
        items((["B", "A", "AB", "0"], "A"), (LETTERS, "C"), (["x", "y"], "B")),
        [["B"], ["c"], ["y"]],
    ),
    "1 is true": (
        "question,choices,answer\nQ1?,false|true,1\nQ2?,false|true,0\n",
        [["true"], ["false"]],
    ),
    "several letters": ("question,A,B,C,kind,answer\nQ?,x,y,z,multiple,AC\n", [["x", "z"]]),
    "several numbers": ('question,choices,kind,answer\nQ?,x|y|z,multiple,"1, 3"\n', [["x", "z"]]),
}


@pytest.mark.parametrize("name", READ)
def test_answers_name_choices_in_one_way_for_the_column(name):
    raw, accepted = READ[name]
    assert [row.accepted for row in said("questions", raw)[1]] == accepted


UNCLEAR = {
    "yes is 1 or the first": (
        "question,choices,answer\nQ1?,yes|no,1\nQ2?,yes|no,0\n",
        "“no”",
        "“yes”",
    ),
    "ja is 1 or the first": (
        "Frage;Auswahl;Antwort\nQ1?;ja|nein;1\nQ2?;ja|nein;0\n",
        "“nein”",
        "“ja”",
    ),
    "evet is 1 or the first": (
        "question,choices,answer\nQ1?,evet|hayır,1\nQ2?,evet|hayır,0\n",
        "“hayır”",
        "“evet”",
    ),
    "from 0 or from 1": (items((LETTERS, 2), (["x", "y", "z"], 1)), "“c”", "“b”"),
    "text or number": (items((["2", "4", "1"], "2"), (["1", "3", "2"], "1")), "“2”", "“4”"),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_answers_with_two_readings_are_refused_with_an_example_of_each(name):
    raw, *examples = UNCLEAR[name]
    row = said("questions", raw)[1][0]
    assert all(example in row.why for example in examples)
    assert "choose the “reading”" in row.why


@pytest.mark.parametrize(
    "mark",
    [
        "#N/A",
        "#REF!",
        "#DIV/0!",
        "#NV",
        "#BEZUG!",
        "#¡REF!",
        "NaN",
        "NULL",
        "NA",
        "<NA>",
        "n/a",
        "-",
    ],
)
def test_a_mark_of_a_missing_value_is_no_known_answer(mark):
    rows = said("questions", f"question,prompt,answer\nq1,River?,{mark}\nq2,Bird?,gull\n")[1]
    assert "stands for a missing value" in rows[0].why
    assert rows[1].accepted == ["gull"]
    raw = f"question,prompt,choices,answer\nq1,River?,{mark}|b,{mark}\n"
    assert said("questions", raw)[1][0].accepted == [mark]


@pytest.mark.parametrize(
    "label",
    [
        [[0, 4, "PER"]],
        [{"start": 0, "end": 4, "labels": ["PER"]}],
        [{"start_offset": 0, "end_offset": 4}],
    ],
)
def test_marked_parts_of_a_text_are_no_known_answer(label):
    (row,) = said("questions", json.dumps({"id": 2, "text": "Anna saw Ben", "label": label}))[1]
    assert "marked parts of a text (spans" in row.why


@pytest.mark.parametrize(
    "raw",
    [
        "instruction,input,output\nTranslate.,dog,Hund\n",
        json.dumps({"instruction": "Translate.", "input": "dog", "output": "Hund"}),
        "id;Frage;Kontext;Antwort\n1;Translate.;dog;Hund\n",
        "id,question,passage,answer\n1,Translate.,dog,Hund\n",
        "id;pregunta;contexto;respuesta\n1;Translate.;dog;Hund\n",
        "id,enonce,contexte,reponse\n1,Translate.,dog,Hund\n",
        "question,text,answer\nWhich dog is it?,It is a big dog.,Hund\n",
    ],
)
def test_text_beside_the_prompt_is_shown(raw):
    (row,) = said("questions", raw)[1]
    assert "dog" in row.prompt
    assert "\n\n" in row.prompt


def test_a_solution_of_gsm8k_ends_in_its_number():
    _, (row,) = said("questions", json.dumps({"question": "Q?", "answer": "2*500\n#### 1,000"}))
    assert (row.accepted, row.grading) == (["1000"], {"number": True})


def test_a_parquet_file_is_read_and_named_without_its_package(monkeypatch):
    text = DataType.utf8()
    columns = {"question": Array(["Q?"], type=text), "answer": Array(["Paris"], type=text)}
    content = io.BytesIO()
    write_parquet(Table.from_pydict(columns), content)
    _, (row,) = said("questions", content.getvalue())
    assert row.accepted == ["Paris"]
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    with pytest.raises(Refused, match="install the package arro3-io"):
        said("questions", content.getvalue())


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("a | b", ["a", "b"]),
        ('["P(A|B)"]', ["P(A|B)"]),
        ("f(x) | g(x)", ["f(x)", "g(x)"]),
        ("smile :( | no", ["smile :(", "no"]),
    ],
)
def test_a_bar_separates_values_outside_a_list(cell, values):
    assert gold_cells.split_values(cell) == values


@pytest.mark.parametrize("cell", ["P(A|B)", "|2|", "a||b"])
def test_a_bar_within_a_value_is_refused_with_a_way_to_write_it(cell):
    with pytest.raises(Refused, match="write a list in JSON"):
        gold_cells.split_values(cell)


TICKS = ["Yes, always", "Rarely", "Never"]


@pytest.mark.parametrize(
    ("response", "fitted"),
    [
        ("Yes, always, Rarely", "Yes, always | Rarely"),
        ("rarely;never;", "rarely | never"),
        ('{"choices": ["Rarely", "Never"]}', "Rarely | Never"),
        ("Sometimes, Never", "Sometimes, Never"),
        ("Yes, always\nNever", "Yes, always | Never"),
        ("Rarely / Never", "Rarely | Never"),
        ("Rarely Never", "Rarely | Never"),
    ],
)
def test_ticks_of_forms_are_joined(response, fitted):
    assert gold_cells.fit_response(response, TICKS, {"multiple": True}) == fitted


def test_ticks_with_two_readings_stay_as_they_are():
    choices = ["A", "B", "A, B"]
    assert gold_cells.fit_response("A, B", choices, {"multiple": True}) == "A, B"


# -- past answers

KEY = "question,prompt,answer,choices\nq1,Bird?,yes,yes|no\nq2,Bird?,no,yes|no\n"
MTURK = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.id,"


def graded(answers: str, key: str | None = KEY, leave_out: bool = False) -> dict[str, float]:
    file = File("a.csv", answers.encode(), leave_out=leave_out)
    keyed = read_keyed_answers(file, File("k.csv", key.encode()) if key else None)
    return {question: grade for _, question, grade in keyed.rows}


@pytest.mark.parametrize(
    ("head", "first", "second"),
    [
        ("Answer.bird.yes,Answer.bird.no", "TRUE,FALSE", "FALSE,TRUE"),
        ("Answer.yes.on,Answer.no.on", "true,false", ",true"),
        ("Answer.category.label", "yes", "no"),
        *(
            (
                "Answer.taskAnswers",
                *(f'"{json.dumps([a]).replace(chr(34), chr(34) * 2)}"' for a in pair),
            )
            for pair in (
                ({"bird": {"yes": True, "no": False}}, {"bird": {"yes": False, "no": True}}),
                ({"category": {"label": "yes"}}, {"category": {"label": "no"}}),
            )
        ),
    ],
)
def test_option_columns_of_mturk_are_one_answer(head, first, second):
    rows = f"h,a1,W1,Approved,q1,{first}\nh,a2,W1,Approved,q2,{second}\n"
    assert graded(f"{MTURK}{head}\n{rows}") == {"q1": 1, "q2": 1}


def test_several_answer_columns_are_refused():
    rows = "h,a1,W1,Approved,q1,true,false\n"
    with pytest.raises(Refused, match="no column “response”"):
        graded(f"{MTURK}Answer.Choice1,Answer.Choice2\n{rows}")


def test_bad_rows_are_listed_and_left_out_on_request():
    answers = "worker,task,label\nw1,q1,maybe\nw1,q2,no\nw2,q1,\nw2,q2,yes,x,y\n"
    with pytest.raises(FaultyRows) as caught:
        graded(answers)
    assert [row.line for row in caught.value.rows] == [2, 4, 5]
    assert "line 2: “maybe” is not among the choices: yes | no (2 more" in str(caught.value)
    assert graded(answers, leave_out=True) == {"q2": 1}


@pytest.mark.parametrize("head", ["task,worker,label", "label,task,worker"])
def test_swapped_columns_are_noticed(head):
    with pytest.raises(Refused, match="the columns seem to be swapped"):
        graded(f"{head}\nw1,q1,yes\nw2,q2,no\n", "task,label\nq1,yes\nq2,no\n")


def test_answers_without_a_right_one_are_refused():
    rows = "".join(f"w{n},q1,oui\n" for n in range(10))
    with pytest.raises(Refused, match="not one of 10 answers is right"):
        graded(f"worker,task,label\n{rows}", "task,label\nq1,yes\n")


def test_a_column_of_numbers_with_a_gap_equals_whole_numbers():
    assert graded("worker,task,label\nw,t,1.0\n", "task,label\nt,1\n") == {"t": 1}


def test_a_key_with_bars_accepts_each_or_all_ticks():
    key = "task,label\nt1,NYC|New York\nt2,a|b\n"
    assert graded("worker,task,label\nw,t1,nyc\nw,t2,c\n", key) == {"t1": 1, "t2": 0}
    assert graded("worker,task,label\nw,t1,nyc\nw,t2,b|a\n", key) == {"t1": 0, "t2": 1}
