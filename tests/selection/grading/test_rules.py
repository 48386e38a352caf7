"""Grading: as text, as numbers, with or without capitals, spaces, accents."""

from decimal import Decimal

import pytest

from selection.grading.numbers import parse_number
from selection.grading.rules import (
    describe_grading,
    is_match,
    is_possible_answer,
    kind_of,
    parse_grading,
)


@pytest.mark.parametrize(
    ("grading", "accepted", "right", "wrong"),
    [
        ({}, "New York", " new   YORK ", "newyork"),
        ({}, "café", "CAFÉ", "cafe"),
        ({"case": True}, "mRNA", " mRNA", "MRNA"),
        ({"case": True}, "New York", "New  York", "new york"),
        ({"spaces": True}, "a b", "A B ", "a  b"),
        ({"no_accents": True}, "café", "Cafe", "cafes"),
        ({"no_accents": True, "case": True}, "Éa", "Ea", "éa"),
        ({"number": True}, "3.5", "3,50", "3.51"),
        ({"number": True}, "1000000", "1,000,000", "1000001"),
        ({"number": True}, "1234.5", "1.234,5", "12345"),
        ({"number": True}, "-3", "\N{MINUS SIGN} 3", "3"),
        ({"number": True}, "3", "+3.0e0", "three"),
        ({"number": True, "tolerance": 0.01}, "3.14", "3,15", "3.1501"),
        ({"number": True, "tolerance": 0.1}, "0.3", "0.2", "0.19"),
        ({"number": True, "tolerance": 0.05, "relative": True}, "-200", "-190", "-189.9"),
        ({"number": True}, "1234", "1,234", "12,34"),
        ({"number": True}, "1234", "1.234", "1.2340"),
        ({"number": True}, "1.234", "1,234", "1,2345"),
        ({"number": True}, "0.5", "0,500", "500"),
        ({"number": True}, "1234567.5", "1 234 567,5", "1234567"),
        ({"number": True}, "1000", "1’000", "1"),
        ({"number": True}, "12.5", "١٢٫٥", "١٢"),
    ],
)
def test_a_response_is_compared_by_the_question_s_own_way(grading, accepted, right, wrong):
    assert is_match([accepted], right, grading)
    assert is_match(["nothing", accepted], right, grading) or grading.get("number")
    assert not is_match([accepted], wrong, grading)


@pytest.mark.parametrize("grading", [{}, {"case": True}, {"spaces": True}, {"multiple": True}])
def test_a_composed_letter_is_its_parts(grading):
    assert is_match(["caf\u00e9"], "cafe\u0301", grading)
    assert is_possible_answer(["caf\u00e9", "tea"], "cafe\u0301", grading)


JOINED = ["5'11", "3'5", "1'2'3", "3 4", "1,2,3", "24.03.2025", "1,234,5", "1.234.56"]


@pytest.mark.parametrize(
    "text", ["", "NaN", "inf", "1e9999", "9" * 200, "1-2", "--1", "0x10", ".", *JOINED]
)
def test_text_without_a_number_is_not_a_number(text):
    assert parse_number(text) is None
    assert not is_match(["1"], text, {"number": True})


def test_numbers_are_exact():
    assert parse_number("0,1") + parse_number("0.2") == Decimal("0.3")


@pytest.mark.parametrize(
    ("written", "grading"),
    [
        ("", {}),
        ("number", {"number": True}),
        ("number ±0.01", {"number": True, "tolerance": 0.01}),
        ("number ±5%", {"number": True, "tolerance": 0.05, "relative": True}),
        ("multiple", {"multiple": True}),
        ("order, case", {"order": True, "case": True}),
        ("case", {"case": True}),
        ("case, spaces", {"case": True, "spaces": True}),
        ("no accents", {"no_accents": True}),
    ],
)
def test_grading_is_parsed_as_described(written, grading):
    assert parse_grading(written) == grading
    assert describe_grading(grading) == written


def test_grading_is_parsed_from_human_spellings():
    assert parse_grading("Exact") == {"case": True, "spaces": True}
    assert parse_grading(" Number +-0,5 ") == {"number": True, "tolerance": 0.5}


@pytest.mark.parametrize(
    "text", ["roughly", "number ±x", "number ±-1", "number, case", "order, multiple"]
)
def test_unknown_grading_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"\.$"):
        parse_grading(text)


TICKED = {"multiple": True}
ORDERED = {"order": True}


@pytest.mark.parametrize("response", ["gull | bat", "BAT|gull", "bat | gull | bat"])
def test_ticked_choices_must_equal_the_accepted_ones(response):
    assert is_match(["gull", "bat"], response, TICKED)
    assert not is_match(["gull"], response, TICKED)
    assert not is_match(["gull", "bat", "whale"], response, TICKED)


def test_an_order_is_right_as_a_whole():
    assert is_match(["a", "b", "c"], "A | b | c", ORDERED)
    assert not is_match(["a", "b", "c"], "b | a | c", ORDERED)
    assert not is_match(["a", "b", "c"], "a | b", ORDERED)


@pytest.mark.parametrize(
    ("choices", "grading", "possible", "impossible"),
    [
        (["a", "b"], {}, "A", "a | b"),
        (["a", "b"], TICKED, "b | a", "a | d"),
        (["a", "b"], TICKED, "a", " | "),
        (["a", "b", "c"], ORDERED, "c | a | b", "a | b"),
        (["a", "b", "c"], ORDERED, "a | b | c", "a | a | c"),
        ([], {"number": True}, "3,5", "three"),
    ],
)
def test_impossible_answer_is_recognised_without_the_accepted_one(
    choices, grading, possible, impossible
):
    assert is_possible_answer(choices, possible, grading)
    assert not is_possible_answer(choices, impossible, grading)


def test_questions_have_one_kind():
    found = [kind_of(["a", "b"], way) for way in ({}, TICKED, ORDERED, {"number": True})]
    assert found == ["single", "multiple", "order", "single"]
    assert [kind_of([], {}), kind_of([], {"number": True})] == ["text", "number"]


@pytest.mark.parametrize(
    "none",
    [
        "None of the above",
        "None of these apply.",
        "NONE",
        "Neither",
        "Keine der genannten Antworten",
        "Keine davon",
        "Nichts davon",
        "Aucune de ces réponses",
        "Ninguna de las anteriores",
        "Nessuna delle precedenti",
        "Geen van bovenstaande",
        "لا شيء مما سبق",
        "以上都不是",
    ],
)
def test_none_of_the_above_excludes_the_other_choices(none):
    choices, multiple = ["a", "b", none], {"multiple": True}
    assert is_possible_answer(choices, none, multiple)
    assert is_possible_answer(choices, "a | b", multiple)
    assert not is_possible_answer(choices, f"a | {none}", multiple)


@pytest.mark.parametrize(
    "statement", ["None of the patients smoked", "Nothing was found in the sample", "Nonet", "No"]
)
def test_a_statement_that_begins_with_none_goes_with_others(statement):
    assert is_possible_answer(["a", statement], f"a | {statement}", {"multiple": True})
