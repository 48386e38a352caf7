"""Text and JSON from outside, cleaned and bounded."""

import pytest

from selection.outside_text import DEEPEST_JSON, clean_text, parse_json


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\0b", "a\ufffdb"),
        ("\ud83d B", "\ufffd B"),
        ("\udc00", "\ufffd"),
        ("😀 Ü\n", "😀 Ü\n"),
        ("abcdefgh", "abcdefgh"[:6]),
    ],
)
def test_clean_text_is_storable_and_bounded(text, clean):
    assert clean_text(text, 6) == clean


def test_parsed_texts_are_clean():
    document = parse_json(rb'{"a\u0000": ["\ud83d B", {"b": "\ud83d\ude00"}], "n": NaN, "n": 1}')
    assert document == {"a\ufffd": ["\ufffd B", {"b": "😀"}], "n": 1}
    assert parse_json("\ufeff1".encode()) == 1


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"answer":' + b"[" * 40_000, "within each other"),
        ("[" * (DEEPEST_JSON + 1) + "]" * (DEEPEST_JSON + 1), "within each other"),
        ('{"a":' * 2_000 + "1" + "}" * 2_000, "within each other"),
        ("[" + "1," * 60 + "1]", "more than 100 characters"),
        (b" " * 101, "more than 100 bytes"),
        (b"\xff", "utf-8"),
        ("9" * 5_000, "integer"),
        ("{", "property name"),
        ("", "value"),
    ],
)
def test_unfit_json_raises_one_error(raw, problem):
    most = 100 if "100" in problem and "within" not in problem else 100_000
    with pytest.raises(ValueError, match=problem):
        parse_json(raw, most)
