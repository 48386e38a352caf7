"""How responses are compared: as text, as numbers, with or without capitals, spaces, accents."""

from decimal import Decimal

import pytest

from selection.models.grading import matches, number, read, words


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
    ],
)
def test_a_response_is_compared_by_the_question_s_own_way(grading, accepted, right, wrong):
    assert matches([accepted], right, grading)
    assert matches(["nothing", accepted], right, grading) or grading.get("number")
    assert not matches([accepted], wrong, grading)


def test_a_composed_letter_is_its_parts():
    assert matches(["caf\u00e9"], "cafe\u0301", {"case": True})


@pytest.mark.parametrize("text", ["", "NaN", "inf", "1e9999", "9" * 200, "1-2", "--1", "0x10", "."])
def test_what_is_no_number_is_none(text):
    assert number(text) is None
    assert not matches(["1"], text, {"number": True})


def test_numbers_are_exact():
    assert number("0,1") + number("0.2") == Decimal("0.3")


@pytest.mark.parametrize(
    ("written", "grading"),
    [
        ("", {}),
        ("number", {"number": True}),
        ("number ±0.01", {"number": True, "tolerance": 0.01}),
        ("case", {"case": True}),
        ("case, spaces", {"case": True, "spaces": True}),
        ("no accents", {"no_accents": True}),
    ],
)
def test_it_is_read_as_it_is_written(written, grading):
    assert read(written) == grading
    assert words(grading) == written


def test_it_is_read_as_people_write_it():
    assert read("Exact") == {"case": True, "spaces": True}
    assert read(" Number +-0,5 ") == {"number": True, "tolerance": 0.5}


@pytest.mark.parametrize("text", ["roughly", "number ±x", "number ±-1", "number, case"])
def test_what_is_no_way_of_grading_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"\.$"):
        read(text)
