"""Amounts, dates and times in any notation, and their recognition by the known answers."""

import pytest

from selection.grading.question_kinds import find_question_faults
from selection.grading.recognition import find_notation, recognise_comparison, write_other_form
from selection.grading.rules import (
    describe_grading,
    is_match,
    is_possible_answer,
    kind_of,
    parse_grading,
)

ALIKE = {
    "number": [("65,87", ["65.87", "65,870"], ["65.88", "66"])],
    "money": [
        (
            "65,87 €",
            ["65.87", "€65.87", "EUR 65,87", "65,87 Euro", "65.87 euros."],
            ["$65.87", "65"],
        ),
        ("$1,234.50", ["1234.5 USD", "1.234,50 $", "1234,5"], ["1234.50 €"]),
        ("1 200 TL", ["₺1.200", "1200", "1.200,00 lira"], ["1200 €"]),
    ],
    "percent": [
        ("5 %", ["5%", "5", "5 percent", "0.05", "5 Prozent", "% 5"], ["50 %", "0.5", "5 €"])
    ],
    "number with unit": [("12,5 kg", ["12.5", "12.5kg", "12,5 Kilogramm"], ["12.5 g", "12"])],
    "date": [
        ("24.03.2025", ["24.3.2025", "2025-03-24", "3/24/2025", "24 March 2025"], ["25.03.2025"]),
        (
            "March 24, 2025",
            ["24. März 2025", "24 mars 2025", "24 de marzo de 2025"],
            ["March 2025"],
        ),
        ("2025-03-24", ["24 Mart 2025", "Mon, 24 Mar 2025", "24th of March 2025"], ["2024-03-24"]),
    ],
    "date day first": [
        ("03/04/2025", ["3 April 2025", "3-4-2025"], ["04/03/2025", "4 March 2025"])
    ],
    "date month first": [("03/04/2025", ["March 4, 2025"], ["3 April 2025"])],
    "time": [
        ("15:30", ["3:30 pm", "15h30", "15.30 Uhr", "15:30:00", "03:30 PM"], ["3:30", "15:31"])
    ],
}


@pytest.mark.parametrize("written", ALIKE)
def test_answers_are_compared_in_any_notation(written):
    grading = parse_grading(written)
    assert describe_grading(grading) == written
    for accepted, right, wrong in ALIKE[written]:
        assert all(is_match([accepted], response, grading) for response in [accepted, *right])
        assert not any(is_match([accepted], response, grading) for response in wrong)


@pytest.mark.parametrize(
    ("written", "text"), [("money", "five"), ("date", "soon"), ("date", "1.2.3"), ("time", "25:00")]
)
def test_what_cannot_be_read_is_not_graded(written, text):
    grading = parse_grading(written)
    assert not is_possible_answer([], text, grading)
    assert find_question_faults([text], [], grading)
    assert kind_of([], grading) in ("number", "date", "time")


@pytest.mark.parametrize("written", ["date, number", "date, case", "time, date", "money, exact"])
def test_contradictory_comparisons_are_refused(written):
    with pytest.raises(ValueError, match=r"compar(ed|ison) as"):
        parse_grading(written)


def test_a_tolerance_holds_for_amounts():
    grading = parse_grading("money ±0.01")
    assert describe_grading(grading) == "money ±0.01"
    assert is_match(["65,87 €"], "65.88", grading)
    assert not is_match(["65,87 €"], "65.89", grading)


def compared(*answers: str) -> list[str]:
    notation = find_notation(answers)
    return [describe_grading(recognise_comparison([text], notation)[0]) for text in answers]


@pytest.mark.parametrize(
    ("answers", "comparisons"),
    [
        (["65,87", "24.03.2025", "Berlin"], ["number", "date", ""]),
        (["65,87 €", "5 %", "12 kg", "15:30"], ["money", "percent", "number with unit", "time"]),
        (["March 24, 2025", "3 PM", "£5"], ["date", "time", "money"]),
        (["7", "12"], ["number", "number"]),
        (["7", "seven"], ["", ""]),
        (["007", "10115", "1.2.3", "7 dwarfs", "Apollo 11"], [""] * 5),
        (["03/04/2025", "3/24/2025"], ["date month first"] * 2),
        (["03/04/2025", "24/3/2025"], ["date day first"] * 2),
    ],
)
def test_comparisons_are_recognised_by_the_known_answers(answers, comparisons):
    assert compared(*answers) == comparisons


@pytest.mark.parametrize(
    ("answers", "written"),
    [
        (["1.234 €", "65,87 €"], "1234 €"),
        (["$1,234", "$5.50"], "$1234"),
        (["1.234 €", "5 €"], "1234 €"),
        (["1.234", "65,87"], "1234"),
        (["1.234", "65.87"], "1.234"),
    ],
)
def test_signs_between_thousands_are_read_as_the_column_shows(answers, written):
    assert recognise_comparison(answers[:1], find_notation(answers))[1] == [written]


@pytest.mark.parametrize("written", ALIKE)
def test_an_example_of_another_form_is_right(written):
    grading = parse_grading(written)
    for accepted, _, _ in ALIKE[written]:
        other = write_other_form(accepted, grading)
        assert other != accepted
        assert is_match([accepted], other, grading)
