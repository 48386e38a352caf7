"""Numbers in a part of a reply: with strict grouping, fractions, powers and scales."""

import re
import unicodedata
from decimal import Decimal, DivisionByZero, InvalidOperation

from selection.grading.numbers import parse_number

from . import words

_DIGITS = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|"
    r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?|"
    r"\d+(?:[.,]\d+)?|[.,]\d+)(?!\d)(?:[eE][-+]?\d{1,3}(?!\w))?"
)
_SIGN = r"(?:(?<![\w)%])[-+−–‑][ \t]?)?"
_MONEY = r"(?:[$€£¥₹₽₩]|USD|EUR|US\$)?[ \t]?"
_NUMBER = re.compile(rf"(?<![\w.^])(?<!\w[-–_])({_SIGN}){_MONEY}({_SIGN})({_DIGITS})")
_FRACTION = re.compile(rf"({_SIGN})(?:(\d+)[ \t]*)?\\frac\{{({_DIGITS})\}}\{{({_DIGITS})\}}")
_OVER = re.compile(r"[ \t]*[/⁄][ \t]*(\d+(?:[.,]\d+)?)(?![\d/])")
_MIXED = re.compile(r"[ \t](\d+)[/⁄](\d+)(?![\d/])")
_TIMES_TEN = re.compile(r"[ \t]*[×x*·][ \t]*10(?=[ \t]*\^)")
_SCALE = re.compile(r"[ \t]?([^\W\d_]+)\.?")
_RANGE = re.compile(
    r"[^\w.,;\n]{0,2}[ \t]*(?:[-–—~]|\.\.\.?|to|bis|till|or|oder|and|und|ou|y|à|до|или|و|أو|"
    r"至|到|から|或)"
    rf"[ \t]*{_MONEY}\d",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(r"[^\w\n.]{0,3}[ \t]*[+*×÷·=/x−-][ \t]*[$(\d]")
_COMPOSED = re.compile(
    r"[\s*_`$(]*[-−–]?[$€]?[\d.,]+(?:[ \t]*[/⁄^×x*±][ \t]*|[ \t]+\d+/|[ \t]*[×x*][ \t]*10\^)"
    r"[{(]?[-−]?[\d.,]+[})]?[\s*_`$).]*|\W*\\frac.*",
)
_UNITS = re.compile(
    r"[ \t]*(?!because|since|weil)[^\W\d_]{1,10}[ \t]+(?:and[ \t]+)?\d+[ \t]+[^\W\d_]"
)
_LOWEST = re.compile(r"[\s*_$`(]*[<>≤≥]")
_ASSIGNED = re.compile(r"(?<![^\W\d_])[A-Za-z][ \t]*=")
_NAMED = re.compile(r"[A-Za-z]\w{0,15}[ \t]*[=≈:][ \t]*")
_BOUND = re.compile(
    words.match_whole(
        "more than|less than|at least|at most|over|under|greater than|fewer than|between|up to|"
        "mehr als|weniger als|mindestens|höchstens|zwischen|über|unter|plus de|moins de|entre|"
        "más de|menos de|больше|меньше|между|not|nicht|never|if|wenn"
    )
    + r"|[<>≤≥]|n't",
    re.IGNORECASE,
)
_OTHER = re.compile(r"[²³¹⁰⁴-⁹]|[ \t]*[:'′][ \t]*\d|[ \t]*°?\d|[-/.]\d")
_LEAD = re.compile(r"[\s*_\"'`~≈()\[\]{}<>#|:;.,!$→]*")
_YEAR = re.compile(
    r"(?i)\b(?:in|im|en|since|seit|by|um|em|nel)[ \t]+(?:19|20)\d\d\b(?=[ \t]+\S*\d)"
)
_RATED = re.compile(rf"{words.match_whole(words.RATINGS)}|[★⭐]", re.IGNORECASE)
_APPROXIMATE = re.compile(
    rf"(?:{words.match_whole(words.APPROXIMATELY)}[. \t]*)*",
    re.IGNORECASE,
)


def read_figure(text: str, rated: bool = False) -> str | None:
    """Return the number at the beginning of the text; None for a range, a bound, a bare sum.

    rated  a fraction is a rating, of which the upper number counts
    """
    line = text.lstrip(" \t\n*_\"'`").split("\n", 1)[0]
    start = _LEAD.match(line)
    line = (
        line[start.end() if start else 0 :]
        if not re.match(r"[-+−–.,]?[ \t]?[$€£]?[.,]?\d", line)
        else line
    )
    if _LOWEST.match(text):
        return None
    named = _NAMED.match(line)
    line = line[named.end() :] if named else line
    if about := _APPROXIMATE.match(line):
        line = line[about.end() :].lstrip("*_ ~≈(")
    if found := _FRACTION.match(line):
        return _divide(found[1], found[3], found[4], found[2] or "0")
    found = _NUMBER.match(line)
    if found is None:
        return _read_word(line)
    return _read_on(line, found, rated)


def read_only(text: str) -> str | None:
    """Return the only number of the text; None for several different ones."""
    text = _YEAR.sub(" ", text)
    places = [*_FRACTION.finditer(text)] or [*_NUMBER.finditer(text)]
    values = dict.fromkeys(read_figure(text[found.start() :]) for found in places[:20])
    if len(values) != 1 or not places or _BOUND.search(text[: places[0].start()]):
        return None
    return next(iter(values))


def read_after_equals(text: str) -> str | None:
    """Return the number after the last equals sign of the text; None if there is none."""
    place = max(text.rfind("="), text.rfind("≈"))
    if place < 0 or len(_ASSIGNED.findall(text)) > 1:
        return None
    return read_figure(text[place + 1 :])


def is_figure_alone(text: str) -> bool:
    """Return True if the text is a number with at most a unit of two words."""
    if len(re.findall(r"[^\W\d_]+", text)) > 2 or text.rstrip().endswith("?"):
        return False
    return len(_NUMBER.findall(text)) < 2 or bool(_COMPOSED.fullmatch(text))


def is_rated(text: str) -> bool:
    return bool(
        _RATED.search(text) or re.search(r"\d[.,]\d+[ \t]*/[ \t]*(?:5|100?)(?!\d)", text)
    ) or bool(re.fullmatch(r"\W*\d+[ \t]*/[ \t]*100?\W*", text))


def _read_on(line: str, found: re.Match[str], rated: bool) -> str | None:
    """Return the number with what follows it: a fraction, a power, a scale, or an end."""
    sign, digits, place = found[1] or found[2], found[3], found.end()
    if over := _OVER.match(line, place):
        if rated:
            return _format_signed(sign, digits)
        if not _EXPRESSION.match(line, over.end()):
            return _divide(sign, digits, over[1])
    if mixed := _MIXED.match(line, place):
        return _divide(sign, mixed[1], mixed[2], digits)
    if (ten := _TIMES_TEN.match(line, place)) and (
        power := re.compile(r"[ \t]*\^\{?([-−+]?\d{1,3})\}?").match(line, ten.end())
    ):
        return _raise(sign, digits, "10", power[1])
    if power := re.compile(r"\^\{?([-−+]?\d{1,3})\}?").match(line, place):
        return None if sign else _raise("", "1", digits, power[1])
    if re.compile(_EXPRESSION).match(line, place):
        return read_after_equals(line)
    if (
        _RANGE.match(line, place)
        or _OTHER.match(line, place)
        or re.match(r"(?:,[ \t]*\d+)+", line[place:])
    ):
        return None
    if _UNITS.match(line, place) or (
        re.match(r"\W*[$€£]", found[0]) and re.match(r"[MBbKTm]\b", line[place:])
    ):
        return None
    return _scale(sign, digits, line, place)


def _scale(sign: str, digits: str, line: str, place: int) -> str | None:
    word = _SCALE.match(line, place)
    factor = words.SCALES.get(word[1].casefold()) if word else None
    joined = re.compile(r"[ \t]?([千万萬亿億])").match(line, place)
    if joined:
        factor = words.SCALES[joined[1]]
    if factor is None or (word and word[1] == "k" and line[place : place + 1] != "k"):
        return _format_signed(sign, digits)
    number = parse_number(digits)
    return (
        None
        if number is None
        else _format_plain(number * int(factor) * (-1 if _is_minus(sign) else 1))
    )


def _read_word(line: str) -> str | None:
    if line and unicodedata.category(line[0]) == "No":
        return _format_plain(Decimal(str(unicodedata.numeric(line[0]))))
    found = re.match(r"[^\W\d_]+(?:-[^\W\d_]+)?|[零一二三四五六七八九十半]+", line)
    word = found[0].casefold() if found else ""
    tens, _, ones = word.partition("-")
    if ones and tens in words.FIGURES and ones in words.FIGURES:
        value = Decimal(words.FIGURES[tens]) + Decimal(words.FIGURES[ones])
        return _format_plain(value) if 20 <= Decimal(words.FIGURES[tens]) <= 90 else None
    ends = found and re.match(
        r"[\s.,;:!)*_\"'`]*(?:$|\n|because|weil|[\w ]{1,30}[.!]?$)", line[found.end() :]
    )
    return words.FIGURES.get(word) if ends and not _is_compound(line, found) else None


def _is_compound(line: str, found: re.Match[str] | None) -> bool:
    """Return True if another word of a number follows: “twelve hundred” is not 12."""
    rest = line[found.end() :].casefold() if found else ""
    return any(
        word in words.FIGURES or word in words.SCALES or word in ("and", "or", "to")
        for word in re.findall(r"[^\W\d_]+", rest)[:1]
    )


def _divide(sign: str, upper: str, lower: str, whole: str = "0") -> str | None:
    top, bottom, more = parse_number(upper), parse_number(lower), parse_number(whole)
    try:
        value = (more or 0) + (top or Decimal(0)) / (bottom or Decimal(0))
    except (DivisionByZero, InvalidOperation):
        return None
    return _format_plain(-value if _is_minus(sign) else value)


def _raise(sign: str, digits: str, base: str, power: str) -> str | None:
    factor, root, exponent = parse_number(digits), parse_number(base), parse_number(power)
    if factor is None or root is None or exponent is None or abs(exponent) > 99:
        return None
    try:
        value = factor * root ** int(exponent)
    except (DivisionByZero, InvalidOperation):
        return None
    return _format_plain(-value if _is_minus(sign) else value)


def _is_minus(sign: str) -> bool:
    return sign.strip()[:1] in ("-", "−", "–", "‑")


def _format_signed(sign: str, digits: str) -> str:
    return ("-" if _is_minus(sign) else "") + digits


def _format_plain(value: Decimal) -> str | None:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if len(text) <= 60 else None
