"""Marks that keyboards and programs add to an answer, and differences that must stay."""

import pytest

from selection.grading import question_kinds
from selection.grading.numbers import parse_number
from selection.grading.rules import is_match, is_possible_answer

MARKED = [
    ("yes", ["yes\u200b", "yes\u200e", "\ufeffyes", "y\u00ades", "yes\u00a0", "yes.", "Yes!"]),
    ("don't", ["don’t", "don\u00b4t", "DON’T."]),
    ('say "hi"', ["say “hi”", "say „hi“"]),
    ("ABC 12", ["ＡＢＣ　１２", "abc 12。"]),
    ("İstanbul", ["istanbul", "ISTANBUL", "İSTANBUL."]),
    ("Isparta", ["ısparta"]),
    ("well-known", ["well‑known", "well–known"]),
    ("می‌خواهم", ["میخواهم"]),
]
DIFFERENT = [("1", "-1"), ("C", "C#"), (".", "!"), ("...", "."), ("3", "3!"), ("x2", "x²")]


@pytest.mark.parametrize(("accepted", "responses"), MARKED)
def test_marks_of_keyboards_do_not_matter(accepted, responses):
    assert all(is_match([accepted], response) for response in responses)


@pytest.mark.parametrize(("accepted", "response"), DIFFERENT)
def test_different_answers_stay_different(accepted, response):
    assert not is_match([accepted], response)


def test_choices_that_only_a_mark_tells_apart_stay_apart():
    choices = ["C", "C.", "D"]
    assert not is_match(["C"], "C.", None, choices)
    assert is_match(["C"], "C.", None, ["C", "D"])
    assert is_possible_answer(["C", "D"], "c.")
    assert not is_possible_answer(choices, "D.")
    assert not question_kinds.find_question_faults(["C"], choices, {})


@pytest.mark.parametrize("choices", [["US", "US", "UK"], ["US", "us ", "UK"]])
def test_a_choice_that_is_there_twice_is_a_fault(choices):
    (fault,) = question_kinds.find_question_faults(["UK"], choices, {})
    assert fault == f"The choice “{choices[1]}” is there twice."


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5.", "1.5"),
        ("3,50.", "3.50"),
        ("3,50,", "3.50"),
        ("\u200e3.5", "3.5"),
        ("３．５", "3.5"),
    ],
)
def test_numbers_are_read_without_their_final_mark(text, number):
    assert str(parse_number(text)) == number
