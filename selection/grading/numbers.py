"""Parsing of numbers as people type them: 3,50 and 3.5, 1 000 and 1’000, ٣٫٥, any minus sign."""

import re
from decimal import Decimal

from selection import viewer_locale

from .keys import unify_marks

MOST_DIGITS = 100
# Thousands are separated by one sign, in threes, or in twos before the last three as in India.
_NUMBER = re.compile(
    r"(?P<sign>[+-]?) ?(?P<whole>\d+|\d{1,3}(?P<mark>[ '.,])\d{3}(?:(?P=mark)\d{3})*|"
    r"\d{1,2}(?:,\d\d)+,\d{3}|)(?:(?P<point>[.,])(?P<rest>\d*))?(?P<power>[eE][+-]?\d{1,3})?"
)
# One sign followed by three digits: it may separate thousands or be a decimal sign.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_SIGNS = str.maketrans({"\N{ARABIC DECIMAL SEPARATOR}": ",", "\N{ARABIC THOUSANDS SEPARATOR}": "'"})


def parse_number(text: str) -> Decimal | None:
    """Read the exact number that the text stands for; None if it is not a number.

    A single comma or point is the decimal one; several of a kind separate thousands.
    """
    bare = _strip_number(text)
    match = _NUMBER.fullmatch(bare) if len(bare) <= MOST_DIGITS else None
    if match is None or (match["mark"] or " ") == match["point"]:
        return None
    if match["mark"] is None and "," in match["whole"] and match["point"] == ",":
        return None
    digits = re.sub(r"\D", "", match["whole"])
    if not digits and not match["rest"]:
        return None
    return Decimal(f"{match['sign']}{digits}.{match['rest'] or ''}{match['power'] or ''}")


def possible_readings(text: str) -> list[Decimal]:
    number = parse_number(text)
    if number is None:
        return []
    return [number, read_as_thousands(text)] if is_ambiguous(text) else [number]


def is_ambiguous(text: str) -> bool:
    """Tell if the text may stand for either of two numbers."""
    return _EITHER.fullmatch(_strip_number(text)) is not None


def read_as_thousands(text: str) -> Decimal:
    """Read the number if the only sign of an ambiguous text separates thousands."""
    return Decimal(_strip_number(text).replace(",", "").replace(".", ""))


def _strip_number(text: str) -> str:
    bare = " ".join(unify_marks(text).split()).translate(_SIGNS)
    return bare[:-1].rstrip() if len(bare) > 1 and bare[-1] in ".,。" else bare


def parse_typed(text: str) -> Decimal:
    """Read a number typed in a form. Raises ValueError, with a sentence.

    A sign followed by three digits is the decimal one if it is so in the viewer's locale; the other
    sign could be either.
    """
    number = parse_number(text)
    if number is None:
        raise ValueError("Enter a number.")
    if is_ambiguous(text) and viewer_locale.decimal_mark() not in text:
        whole, part = read_as_thousands(text), viewer_locale.format_plain(number)
        raise ValueError(f"“{text}” may be {whole} or {part}: write {whole}, or {part}0.")
    return number


def parse_whole(text: str) -> Decimal:
    """Read a whole number typed in a form: its only sign is not the viewer's decimal one."""
    if is_ambiguous(text) and viewer_locale.decimal_mark() not in text:
        return read_as_thousands(text)
    if parse_number(text) is None:
        raise ValueError("Enter a whole number.")
    return parse_typed(text)


KEY = "a score from 0 to 1"  # the known answer of a question whose answers are scores


def parse_score(text: str) -> float:
    score = float(text)
    if not 0 <= score <= 1:
        raise ValueError(f"“{text}” is not from 0 to 1.")
    return score
