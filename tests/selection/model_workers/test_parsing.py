"""Replies as models write them, and the answers that they give."""

import pytest

from selection.errors import Refused
from selection.model_workers.parsing import parse_reply, validate_pattern

from .model_replies import ROWS

COLOURS = ["red", "light red", "blue"]
LETTERED = ["A", "B"]


@pytest.mark.parametrize(
    ("rule", "reply", "answer"),
    [
        ("auto", "B", "light red"),
        ("auto", "(c)", "blue"),
        ("auto", "**B**", "light red"),
        ("auto", "B. light red", "light red"),
        ("auto", "Blue.", "blue"),
        ("auto", "```\nred\n```", "red"),
        ("auto", "<think>A or B? B is light red.</think>\nA", "red"),
        ("auto", "It is not red.\n\nAnswer: C", "blue"),
        ("auto", "The answer is C because the sky is.", "blue"),
        ("auto", "I would say light red here", "light red"),
        ("auto", "red or blue", None),
        ("auto", '{"answer": "blue"}', "blue"),
        ("auto", "I cannot answer that.", None),
        ("auto", "", None),
        ("auto", "<think>never ends", None),
        ("letter", "I choose B", "light red"),
        ("letter", "A and B", None),
        ("letter", "D", None),
        ("word", "Surely blue!", "blue"),
        ("word", "Reddish", None),
        ("json", 'Here: {"answer": "red", "why": "x"}', "red"),
        ("json", '{"answer": ["red"]}', "red"),
        ("json", '{"reply": "red"}', None),
        ("json", "{answer: red}", None),
        ("last line", "First red.\nThen\nblue", "blue"),
        ("last line", "blue\nI am sure", None),
    ],
)
def test_read_a_choice(rule: str, reply: str, answer: str | None) -> None:
    assert parse_reply(reply, rule, "", COLOURS, {}) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("42", "42"), ("It is 41, no: 42.", "42"), ("−3.5", "-3.5"), ("none", None)],
)
def test_read_the_last_number(reply: str, answer: str | None) -> None:
    assert parse_reply(reply, "auto", "", [], {"number": True, "tolerance": 1}) == answer


@pytest.mark.parametrize(
    ("reply", "answer"), [("A, C", "red|blue"), ("A and C", "red|blue"), ("C", "blue")]
)
def test_read_several_choices(reply: str, answer: str) -> None:
    assert parse_reply(reply, "auto", "", COLOURS, {"multiple": True}) == answer


def test_read_an_order() -> None:
    assert parse_reply("C > A > B", "auto", "", COLOURS, {"order": True}) == "blue|red|light red"
    assert parse_reply("C, A", "auto", "", COLOURS, {"order": True}) is None


def test_read_free_text_as_it_is() -> None:
    assert parse_reply(" Paris \n", "auto", "", [], {}) == "Paris"


def test_read_by_an_own_pattern() -> None:
    assert parse_reply("x=red;", "regex", r"x=(\w+)", COLOURS, {}) == "red"
    assert parse_reply("y=red;", "regex", r"x=(\w+)", COLOURS, {}) is None


def test_a_slow_pattern_gives_no_answer() -> None:
    assert parse_reply("a" * 40 + "!", "regex", r"^(a|aa)+$", COLOURS, {}) is None


@pytest.mark.parametrize(
    ("pattern", "why"), [("", "needs a pattern"), ("(", "no regular expression")]
)
def test_refuse_a_pattern_that_cannot_be_used(pattern: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        validate_pattern("regex", pattern)


@pytest.mark.parametrize(
    ("choices", "grading", "reply", "answer"),
    [(choices, grading, *row) for choices, grading, rows in ROWS for row in rows],
)
def test_read_a_reply_of_a_model(
    choices: list[str], grading: dict[str, bool], reply: str, answer: str | None
) -> None:
    assert parse_reply(reply, "auto", "", choices, grading) == answer


def test_letters_say_nothing_if_choices_are_other_letters() -> None:
    assert parse_reply("A", "auto", "", ["B", "A"], {}) == "A"
    assert parse_reply("Option 1", "auto", "", ["B", "A"], {}) == "B"
