"""How typed answers are compared, recognised by the form of the known ones.

Without this, 65,87 and 65.87, or 24.03.2025 and 24.3.2025, are different texts. Signs that have
two meanings (1.234, 3/4/2025) are read as the other answers of the column show.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import numbers, quantities

Grading = dict[str, Any]
_SLASHED = re.compile(r"\d{1,2}[-/]\d{1,2}[-/](?:\d{4}|\d\d)")
_DATED = re.compile(
    r"\d{1,4}[-/.] ?\d{1,2}[-/.] ?\d{1,4}|(?=.*[^\W\d_]{3}).*\d{4}|\d(?=.*[^\W\d_]{3}).*"
)
_CLOCK = re.compile(
    r"\d{1,2}:\d\d(:\d\d)?( ?[ap]\.?m\.?| Uhr| h)?|\d{1,2}( ?[ap]\.?m\.?|h\d\d| Uhr)", re.I
)
_CLEAR = re.compile(
    r"\d([.,])(?!\d{3}(?!\d))\d{1,50}+(?!.{0,50}\d[.,]\d)"
    r"|\d[.,]\d{3}.{0,50}([.,])\d{1,50}+(?!\d)"
)
_CODE = re.compile(r"[+-]?0\d+")  # a postal code, an id


@dataclass(frozen=True)
class Notation:
    """The notation of a column.

    decimal      the decimal sign, if answers show it
    month_first  True if 3/4/2025 is in March; None: the answers do not show it
    numeric      True if all typed answers are numbers
    unclear      a date with two readings
    """

    decimal: str = ""
    month_first: bool | None = None
    numeric: bool = False
    unclear: str = ""


def find_notation(answers: Iterable[str]) -> Notation:
    texts = [" ".join(text.split()) for text in answers if len(text) <= quantities.LONGEST]
    marks = {
        (m[1] or m[2]) for m in map(_CLEAR.search, texts) if m and not _DATED.fullmatch(m.string)
    }
    slashed = [text for text in texts if _SLASHED.fullmatch(text)]
    dates = {text: quantities.parse_dates(text) for text in slashed}
    orders = {
        int(re.split("[-/]", text)[1]) > 12 for text, found in dates.items() if len(found) == 1
    }
    unclear = [text for text, found in dates.items() if len(found) > 1] if len(orders) != 1 else []
    return Notation(
        marks.pop() if len(marks) == 1 else "",
        orders.pop() if len(orders) == 1 else None,
        bool(texts) and all(map(_is_number, texts)),
        unclear[0] if unclear else "",
    )


def recognise_comparison(accepted: Sequence[str], notation: Notation) -> tuple[Grading, list[str]]:
    """Find the comparison that fits the accepted answers, and write them without ambiguity."""
    grading = _find_grading(accepted, notation)
    if grading.get("number"):
        return grading, [_write_clearly(text, grading, notation) for text in accepted]
    return grading, list(accepted)


def _find_grading(accepted: Sequence[str], notation: Notation) -> Grading:
    if any(len(text) > quantities.LONGEST for text in accepted):
        return {}
    if all(_CLOCK.fullmatch(text) and quantities.parse_time(text) for text in accepted):
        return {"time": True}
    if all(_DATED.fullmatch(text) and quantities.parse_dates(text) for text in accepted):
        slashed = any(map(_SLASHED.fullmatch, accepted))
        known = slashed and notation.month_first is not None
        order = "month first" if notation.month_first else "day first"
        return {"date": order if known else "any"}
    amounts = [quantities.parse_amount(text) for text in accepted]
    units = {amount[1] for amount in amounts if amount}
    if None in amounts or len(units - {""}) > 1 or any(map(_CODE.fullmatch, accepted)):
        return {}
    unit = max(units)
    if unit:
        known_unit = quantities.is_known_unit(unit)
        return {"number": True, "unit": quantities.kind_of_unit(unit)} if known_unit else {}
    written = any(re.search(r"\d[.,' ]\d", text) for text in accepted)
    return (
        {"number": True} if (written or notation.numeric) and all(map(_is_number, accepted)) else {}
    )


def _is_number(text: str) -> bool:
    amount = quantities.parse_amount(text)
    short = len(re.sub(r"\D", "", text)) <= 15
    return amount is not None and short and not _CODE.fullmatch(text)


def _write_clearly(text: str, grading: Grading, notation: Notation) -> str:
    """Remove a sign between thousands that could be a decimal sign."""
    match = re.search(r"[+-]?\d{1,3}([.,])\d{3}(?!\d)", text)
    if not match or not numbers.is_ambiguous(match[0]):
        return text
    money = grading.get("unit") == "money"
    if notation.decimal != match[1] if notation.decimal else money:
        return text.replace(match[0], match[0].replace(match[1], ""))
    return text


def write_other_form(text: str, grading: Grading) -> str:
    """Write the answer in another form that counts as well, as an example."""
    if grading.get("time"):
        hour, minute, _ = quantities.parse_time(text) or (0, 0, 0)
        twelve = f"{hour % 12 or 12}:{minute:02} {'pm' if hour > 11 else 'am'}"
        return twelve if "m" not in text.casefold() else f"{hour}:{minute:02}"
    if grading.get("date"):
        day = quantities.parse_dates(text, grading["date"] == "month first")[0]
        return f"{day:%Y-%m-%d}" if not re.match(r"\d{4}-", text) else f"{day.day} {day:%B %Y}"
    if not grading.get("number"):
        return ""
    value = quantities.parse_number_of(text)
    if grading.get("unit") == "percent":
        return f"{(value / 100).normalize():f}" if "%" in text else f"{value.normalize():f} %"
    plain = f"{value.normalize():f}"
    other = plain.replace(".", ",") if plain in text else plain
    return "" if other == text else other
