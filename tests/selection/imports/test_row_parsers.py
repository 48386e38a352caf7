"""Parsing of typical CSV files."""

import pytest

from selection.errors import Refused
from selection.imports import row_parsers
from tests import file_rows

from .readers.files import said


def refusal(read, text):
    with pytest.raises(Refused) as caught:
        read(text, "f.csv")
    return str(caught.value)


def test_answers_are_read_under_both_column_names():
    ours, _ = file_rows.parse_answers("worker,question,response\nw1,q1,yes\n", "f.csv")
    theirs, _ = file_rows.parse_answers("worker,task,label\nw1,q1,yes\n", "f.csv")
    assert ours == theirs == [row_parsers.AnswerRow(2, "w1", "q1", "yes")]


def test_answers_with_bom_crlf_quotes_extra_columns_and_blank_lines_are_read():
    raw = b"\xef\xbb\xbfTime,Worker,task , label\r\n"
    raw += b'9:00,w1,"t,1","a ""b"", c"\r\n\r\n9:01,w2,t2,d\r\n'
    rows, bad = file_rows.parse_answers(raw, "f.csv")
    assert [(row.line, row.worker, row.question, row.response) for row in rows] == [
        (2, "w1", "t,1", 'a "b", c'),
        (4, "w2", "t2", "d"),
    ]
    assert not bad


def test_gold_saved_by_spreadsheets_in_utf_16_is_read():
    raw = "task,label\nt1,é\n".encode("utf-16")
    assert file_rows.parse_gold(raw, "f.csv") == {"t1": "é"}


def test_bytes_that_are_not_text_are_refused_with_their_line():
    with pytest.raises(Refused, match=r"f\.csv, line 3: .*UTF-8"):
        file_rows.parse_gold(b"\xef\xbb\xbfa,b\nc,d\n\xff,e\n", "f.csv")
    with pytest.raises(Refused, match=r"f\.csv, line 2: .*NUL"):
        file_rows.parse_gold(b"a,b\n\0,d\n", "f.csv")


def test_missing_column_is_named_with_the_present_ones():
    assert "no column “response”" in refusal(file_rows.parse_answers, "worker,task,said\n")
    assert "task, said" in refusal(file_rows.parse_gold, "task,said\nt1,yes\n")
    assert "is empty" in refusal(file_rows.parse_gold, "")
    assert "“task” is there twice" in refusal(file_rows.parse_gold, "task,task,label\n")


def test_broken_row_is_refused_with_its_line():
    assert "line 3: There are 3 values for 2 columns" in refusal(
        file_rows.parse_gold, "task,label\na,b\na,b,c\n"
    )
    assert "line 2" in refusal(file_rows.parse_gold, 'task,label\n"a,b\n')


def test_bad_answers_are_kept_apart_with_line_and_reason():
    text = "worker,task,label\nw1,t1,a\nw1,t1,b\n,t1,a\nw2,t1,\nw2,t1,c\n"
    rows, bad = file_rows.parse_answers(text, "f.csv")
    assert [row.line for row in rows] == [2, 3, 6]
    assert [(row.line, row.why.split(",")[0]) for row in bad] == [
        (4, "The column “worker” is empty."),
        (5, "The column “label” is empty."),
    ]


def test_gold_has_one_answer_to_each_task_and_a_label():
    assert "line 3: “t1” has another correct answer than in line 2" in refusal(
        file_rows.parse_gold, "task,label\nt1,a\nt1,b\n"
    )
    assert "line 2: The column “label” is empty" in refusal(
        file_rows.parse_gold, "task,label\nt1,\n"
    )
    assert "no line below the header" in refusal(file_rows.parse_gold, "task,label\n")


def test_questions_may_have_several_answers_and_choices():
    text = "question,prompt,answer,choices\nq1,Pick one.,a|b,a | b | c\nq2,Say it.,x,\n"
    _, (first, second) = said("questions", text)
    assert (first.accepted, first.choices) == (["a", "b"], ["a", "b", "c"])
    assert (second.accepted, second.choices) == (["x"], [])


def test_an_answer_that_cannot_be_chosen_is_bad():
    text = "question,prompt,answer,choices\nq1,Pick one.,d,a|b\n"
    _, (bad,) = said("questions", text)
    assert "“d” is not among the choices a | b" in bad.why


def test_further_columns_of_a_worker_are_attributes():
    _, (worker,) = said("workers", "worker,name,language\nw1,Ada,Hindi\n")
    assert (worker.name, worker.attributes) == ("Ada", {"language": "Hindi"})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Refused, match=r"nothing\.csv cannot be read: no such file"):
        row_parsers.read_path(tmp_path / "nothing.csv")
