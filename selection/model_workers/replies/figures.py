"""Numbers in a part of a reply: with strict grouping, fractions, powers and scales."""

import re
import unicodedata
from decimal import Decimal

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
_FRACTION = re.compile(
    rf"({_SIGN})(?:(?<!\d)(\d++)[ \t]*+)?\\frac\{{({_DIGITS})\}}\{{({_DIGITS})\}}"
)
_OVER = re.compile(r"[ \t]*[/⁄][ \t]*(\d+(?:[.,]\d+)?)(?![\d/])")
_MIXED = re.compile(r"[ \t](\d+)[/⁄](\d+)(?![\d/])")
_SCALE = re.compile(r"[ \t]?([千万萬亿億]|[^\W\d_]+)")
_RANGE = re.compile(
    r"[^\w.,;\n]{0,2}[ \t]*(?:[-–—~]|\.\.\.?|to|bis|till|or|oder|and|und|ou|y|à|до|или|و|أو|"
    r"至|到|から|或)"
    rf"[ \t]*{_MONEY}\d",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(r"[^\w\n.]{0,3}[ \t]*[+*×÷·=/x−-][ \t]*[$(\d]")
_COMPOSED = re.compile(
    r"[\s*_`$(]*[-−–]?[$€]?[\d.,]++(?:[ \t]*[/⁄^×x*±][ \t]*|[ \t]+\d+/|[ \t]*[×x*][ \t]*10\^)"
    r"[{(]?[-−]?[\d.,]++[})]?[\s*_`$).]*|\W*\\frac.*"
)
_UNITS = re.compile(
    r"[ \t]*(?!because|since|weil)[^\W\d_]{1,10}[ \t]+(?:and[ \t]+)?\d+[ \t]+[^\W\d_]"
)
_LOWEST = re.compile(r"[\s*_$`(]*[<>≤≥]")
_ASSIGNED = re.compile(r"(?<![^\W\d_])[A-Za-z][ \t]*=")
_BOUND = re.compile(
    words.match_whole(
        "more than|less than|at least|at most|over|under|greater than|fewer than|between|up to|"
        "mehr als|weniger als|mindestens|höchstens|zwischen|über|unter|plus de|moins de|entre|"
        "más de|menos de|больше|меньше|между|not|nicht|never|if|wenn"
    )
    + r"|[<>≤≥]|n't",
    re.IGNORECASE,
)
_OTHER = re.compile(r"[¼-¾⅐-⅞²³¹⁰⁴-⁹]|[ \t]*[:'′][ \t]*\d|[ \t]*°?\d|[-/.]\d|,[ \t]*\d|[MBK]\b")
_POWER = re.compile(r"(?:[ \t]*[×x*·][ \t]*10)?[ \t]*\^\{?([-−+]?\d{1,9})\}?")
# Marks, a name and “about” before a number.
_LEAD = re.compile(
    rf"\A(?![-+−–.,]?[ \t]?[$€£]?[.,]?\d)[\s*_\"'`~≈()\[\]{{}}<>#|:;.,!$→]*"
    rf"(?:[A-Za-z]\w{{0,15}}[ \t]*[=≈:][ \t]*)?"
    rf"(?:(?:{words.match_whole(words.APPROXIMATELY)}[. \t]*)+[*_ ~≈(]*)?",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?i)\b(?:in|im|en|since|seit|by|um|em|nel)[ \t]+(?:19|20)\d\d\b(?=[ \t]+\S*\d)"
)
_RATED = re.compile(
    rf"{words.match_whole(words.RATINGS)}|[★⭐]|\d[.,]\d+[ \t]*/[ \t]*(?:5|100?)(?!\d)|"
    r"\A\W*\d+[ \t]*/[ \t]*100?\W*\Z",
    re.IGNORECASE,
)


def read_figure(text: str, rated: bool = False) -> str | None:
    """Read the number at the beginning of the text; None for a range, a bound, a bare sum.

    rated  a fraction is a rating, of which the upper number counts
    """
    line = text.lstrip(" \t\n*_\"'`").split("\n", 1)[0]
    if _LOWEST.match(text):
        return None
    line = _LEAD.sub("", line)
    if match := _FRACTION.match(line):
        return _divide(match[1], match[3], match[4], match[2] or "0")
    match = _NUMBER.match(line)
    return _read_on(line, match, rated) if match else _read_word(line)


def read_only(text: str) -> str | None:
    """Read the only number of the text; None for several different ones."""
    text = _YEAR.sub(" ", text)
    places = [*_FRACTION.finditer(text)] or [*_NUMBER.finditer(text)]
    values = dict.fromkeys(read_figure(text[match.start() :]) for match in places[:20])
    if len(values) != 1 or not places or _BOUND.search(text[: places[0].start()]):
        return None
    return next(iter(values))


def read_after_equals(text: str) -> str | None:
    """Read the number after the last equals sign of the text; None if there is none."""
    place = max(text.rfind("="), text.rfind("≈"))
    if place < 0 or len(_ASSIGNED.findall(text)) > 1:
        return None
    return read_figure(text[place + 1 :])


def is_figure_alone(text: str) -> bool:
    """Tell if the text is a number with at most a unit of two words."""
    if len(re.findall(r"[^\W\d_]+", text)) > 2 or text.rstrip().endswith("?"):
        return False
    return len(_NUMBER.findall(text)) < 2 or bool(_COMPOSED.fullmatch(text))


def is_rated(text: str) -> bool:
    return bool(_RATED.search(text))


def _read_on(line: str, found: re.Match[str], rated: bool) -> str | None:
    """Read the number with its continuation: a fraction, a power, a scale, or an end."""
    sign, digits, place = found[1] or found[2], found[3], found.end()
    if over := _OVER.match(line, place):
        if rated:
            return _format(sign, digits)
        if not _EXPRESSION.match(line, over.end()):
            return _divide(sign, digits, over[1])
    if mixed := _MIXED.match(line, place):
        return _divide(sign, mixed[1], mixed[2], digits)
    if power := _POWER.match(line, place):
        exponent = int(power[1].replace("−", "-"))
        if abs(exponent) > 99:
            return None
        if power[0][0] != "^":
            return _format(sign, _parse(digits) * Decimal(10) ** exponent)
        return None if sign else _format(sign, _parse(digits) ** exponent)
    if _EXPRESSION.match(line, place):
        return read_after_equals(line)
    if _RANGE.match(line, place) or _OTHER.match(line, place) or _UNITS.match(line, place):
        return None
    word = _SCALE.match(line, place)
    factor = words.SCALES.get(word[1].casefold()) if word else None
    return _format(sign, _parse(digits) * int(factor) if factor else digits)


def _read_word(line: str) -> str | None:
    if unicodedata.category(line[:1] or " ") == "No":
        return _format("", Decimal(str(unicodedata.numeric(line[0]))))
    match = re.match(r"([^\W\d_]+)(?:-([^\W\d_]+))?|[零一二三四五六七八九十半]+", line)
    value = words.FIGURES.get((match[1] or match[0]).casefold()) if match else None
    if match is None or value is None or _is_compound(line[match.end() :]):
        return None
    ones = words.FIGURES.get(match[2].casefold(), "") if match[2] else "0"
    if match[2] and not (20 <= Decimal(value) <= 90 and ones):
        return None
    return _format("", Decimal(value) + Decimal(ones))


def _is_compound(rest: str) -> bool:
    """Tell if the text goes on as a sentence, or a number: “twelve hundred” is not 12."""
    more = re.match(r"[\s.,;:!)*_\"'`]*(?:$|\n|because|weil|(?P<next>\w+)[\w ]{0,29}[.!]?$)", rest)
    word = ((more and more["next"]) or "").casefold()
    return not more or word in words.FIGURES | words.SCALES or word in ("and", "or", "to")


def _divide(sign: str, upper: str, lower: str, whole: str = "0") -> str | None:
    below = _parse(lower)
    return _format(sign, _parse(whole) + _parse(upper) / below) if below else None


def _parse(digits: str) -> Decimal:
    return parse_number(digits) or Decimal(0)


def _format(sign: str, value: Decimal | str) -> str | None:
    minus = "-" if sign.strip()[:1] in ("-", "−", "–", "‑") else ""
    text = value if isinstance(value, str) else f"{value:f}"
    if "." in text and not isinstance(value, str):
        text = text.rstrip("0").rstrip(".")
    return minus + text if len(text) <= 60 else None
