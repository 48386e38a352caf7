"""Kinds of gold question in a file: parsing, and the words of refusals."""

import pytest

from selection.imports.row_parsers import BadRow
from tests.selection.imports.readers.files import said

HEAD = "question,prompt,answer,choices,kind,tolerance,grading\n"


def parse_line(line: str):
    _, (row,) = said("questions", f"{HEAD}{line}\n")
    return row.why if isinstance(row, BadRow) else row


@pytest.mark.parametrize(
    ("line", "grading"),
    [
        ("q,Tick.,a|b,a|b|c,multiple,,", {"multiple": True}),
        ("q,Tick.,a|b,a|b|c,Multiple choice,,", {"multiple": True}),
        ("q,Sort.,b|a,a|b,order,,", {"order": True}),
        ("q,How long?,3.5,,number,0.1,", {"number": True, "tolerance": 0.1}),
        ("q,How long?,200,,number,5%,", {"number": True, "tolerance": 0.05, "relative": True}),
        ('q,How long?,3.5,,number,"0,1",', {"number": True, "tolerance": 0.1}),
        ("q,How long?,3.5,,,±0.1,", {"number": True, "tolerance": 0.1}),
        ("q,Which?,Oslo,,text,,no accents", {"no_accents": True}),
        ("q,Which?,a,a|b,single,,", {}),
        ("q,Which?,a,a|b,,,", {}),
    ],
)
def test_a_file_says_the_kind_of_each_question(line, grading):
    assert parse_line(line).grading == grading


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("q,Tick.,a,,multiple,,", "A question of the kind “multiple” needs choices."),
        ("q,Type.,a,a|b,text,,", "is typed and has no choices"),
        ("q,Rate.,a score from 0 to 1,,,,", "A run counts right and wrong answers, and no scores"),
        ("q,Tick.,a|None,a|b|None,multiple,,", "which workers cannot do"),
        ("q,Draw.,a,a|b,drawing,,", "“drawing” is not a kind of question. Kinds: single,"),
        ("q,Sort.,a,a|b,order,,", "every choice once, in the right order"),
        ("q,Sort.,a|b,a|b,order,,", "already in the right order"),
        ("q,How long?,3.5,,number,much,", "“much” is no tolerance"),
        ('q,How long?,"1,000",,number,,', "“1,000” may be 1000 or 1.000; write the number"),
        ("q,How long?,long,,number,,", "“long” is not a number"),
        ("q,Tick.,d,a|b,multiple,,", "“d” is not among the choices"),
        ("q,Type.,a,,,,multiple", "There are no choices to tick"),
    ],
)
def test_contradictory_question_is_refused_in_a_sentence(line, why):
    assert why in parse_line(line)


def test_ticking_all_choices_may_be_the_accepted_answer():
    assert parse_line("q,Tick.,a|b,a|b,multiple,,").accepted == ["a", "b"]
