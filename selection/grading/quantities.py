"""Amounts, dates and times as people write them, in any of the usual notations and languages.

Amounts are numbers with a unit, a currency or a percent sign. A text may have two readings.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cache

from babel import Locale

from selection.viewer_locale import currency_code

from .keys import unify_marks
from .numbers import possible_readings

LONGEST = 60
_NUMBER = re.compile(
    r"[+-]?[ ]?[.,]?\d(?:[\d.,' ]*\d)?(?:[eE][+-]?\d{1,3}(?!\w))?(?:[.,](?:--?)?(?!\w))?"
)
_LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "tr", "pl", "ru", "sv", "da")
_NAMES = {
    "%": "percent|per cent|prozent|pour cent|pourcent|por ciento|por cento|per cento|yüzde|pct|v.h",
    "EUR": "euro|euros|eur|€",
    "USD": "dollar|dollars|us dollar|us dollars|us$|usd|$|dólares|dolar",
    "GBP": "pound|pounds|pfund|£|sterling",
    "CHF": "franken|sfr|fr|chf|francs suisses",
    "TRY": "lira|tl|₺|türk lirası",
    "JPY": "yen|¥|円",
    "INR": "rupee|rupees|rs|₹",
    "m": "meter|metre|mètre|metro|metros",
    "km": "kilometer|kilometre|kilomètre|kilómetro|kilometro",
    "cm": "centimeter|centimetre|zentimeter|centimètre|centímetro",
    "mm": "millimeter|millimetre",
    "kg": "kilogram|kilogramm|kilogramme|kilo|kilogramo",
    "g": "gram|gramm|gramme|gramo|gr",
    "l": "liter|litre|litro",
    "ml": "milliliter|millilitre",
    "h": "hour|hr|hrs|std|stunde|stunden|heure|hora|saat",
    "min": "minute|minuten|minuto|dakika|mins",
    "s": "sec|secs|second|sekunde|sekunden|seconde|segundo|saniye",
    "km/h": "kmh|kph|km/std",
    "°c": "celsius|grad|c",
    "": "",
}
_UNITS = {word: name.casefold() for name, words in _NAMES.items() for word in words.split("|")}
_UNITS |= {name.casefold(): name.casefold() for name in _NAMES}
_UNITS |= {f"{word}s": name for word, name in _UNITS.items() if len(word) > 3 and word[-1] != "s"}
CURRENCIES = {"eur", "usd", "gbp", "chf", "try", "jpy", "inr"}

_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ]00:00(?::00)?)?")
_SHORT = re.compile(r"(\d{1,2})([-/.])[ ]?(\d{1,2})\2[ ]?(\d{4}|\d\d)")
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_BETWEEN = {"of", "the", "de", "del", "den", "der", "am", "le", "el", "la", "on", "da", "di"}
_BETWEEN |= {"st", "nd", "rd", "th", "er"}
_TIME = re.compile(
    r"(\d{1,2})(?:[ ]?([:.h])[ ]?(\d\d)(?:[:.](\d\d))?)?[ ]?"
    r"(a\.?m\.?|p\.?m\.?|uhr|h|o'clock|hrs|hours)?"
)


def parse_amount(text: str) -> tuple[list[Decimal], str] | None:
    """Read the possible numbers of an amount, and its unit; "" without one."""
    plain = " ".join(unify_marks(text).split())
    match = _NUMBER.search(plain) if len(plain) <= LONGEST else None
    if match is None:
        return None
    number = match[0].rstrip("-").rstrip(" ")
    before, after = plain[: match.start()].strip(), plain[match.end() :].strip().rstrip(".,")
    if (before and after) or re.search(r"\d", before + after):
        return None
    sign = before[:1] if before[:1] in ("-", "+") else ""
    readings = possible_readings(sign + number)
    return (readings, read_unit(before.removeprefix(sign).strip() or after)) if readings else None


def read_unit(text: str) -> str:
    bare = text.casefold().strip()
    known = _UNITS.get(bare) or _UNITS.get(bare.rstrip("."))
    return known or (currency_code(text) or bare).casefold()


def is_known_unit(unit: str) -> bool:
    return unit in _UNITS.values() or currency_code(unit) is not None


def kind_of_unit(unit: str) -> str:
    """Tell which of money, percent and unit this is."""
    money = unit in CURRENCIES or currency_code(unit) is not None
    return "percent" if unit == "%" else "money" if money else "unit"


def match_amount(accepted: str, response: str, margin: Decimal, relative: bool) -> bool:
    """Compare two amounts: their units must agree if both have one; 5 % is also 0.05."""
    key, given = parse_amount(accepted), parse_amount(response)
    if key is None or given is None or (key[1] and given[1] and key[1] != given[1]):
        return False
    shares = "%" in (key[1], given[1]) and key[1] != given[1]
    scaled = [reading * 100 for reading in given[0]] if key[1] else [r / 100 for r in given[0]]
    right = parse_number_of(accepted)
    limit = margin * abs(right) if relative else margin
    return any(abs(reading - right) <= limit for reading in given[0] + scaled * shares)


def parse_number_of(text: str) -> Decimal:
    amount = parse_amount(text)
    assert amount is not None
    return amount[0][0]


# -- dates


def parse_dates(text: str, month_first: bool | None = None) -> list[date]:
    """Read the possible dates of a text; of 3/4/2025 both, unless the order is known."""
    plain = " ".join(unify_marks(text).split()).rstrip(",")
    if len(plain) > LONGEST:
        return []
    if match := _ISO.fullmatch(plain):
        return _dates((match[1], match[3], match[4]))
    if match := _SHORT.fullmatch(plain.rstrip(".")):
        day_first, mark = (match[4], match[3], match[1]), match[2]
        month = (match[4], match[1], match[3])
        if mark == ".":
            return _dates(day_first)
        ways = [month, day_first] if month_first else [day_first, month]
        dates = _dates(*ways)
        return dates[:1] if month_first is not None else list(dict.fromkeys(dates))
    return _dates(*_spoken_dates(plain))


def _dates(*parts: tuple[str, str, str]) -> list[date]:
    found = []
    for year, month, day in parts:
        full = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 70 else 1900)
        try:
            found.append(date(full, int(month), int(day)))
        except ValueError:
            continue
    return found


def _spoken_dates(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (year, month, day) of a date with the name of its month."""
    words = [token for token in _TOKEN.findall(text) if not token.isdigit()]
    figures = [token for token in _TOKEN.findall(text) if token.isdigit()]
    months = [_month_names()[_fold(word)] for word in words if _fold(word) in _month_names()]
    rest = [w for w in map(_fold, words) if w not in _month_names() | _day_names()]
    if len(figures) == 2 and len(months) == 1 and not {*rest} - _BETWEEN:
        day, year = figures if len(figures[1]) == 4 else reversed(figures)
        if len(year) == 4 and len(day) <= 2:
            yield year, str(months[0]), day


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@cache
def _month_names() -> dict[str, int]:
    return {"sept": 9} | _calendar_names("months")


@cache
def _day_names() -> dict[str, int]:
    return _calendar_names("days")


def _calendar_names(what: str) -> dict[str, int]:
    names = {}
    for language in _LANGUAGES:
        forms = getattr(Locale(language), what)
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in forms[form][width].items():
                    names[_fold(name).strip(".")] = number
    return names


# -- times


def parse_time(text: str) -> tuple[int, int, int] | None:
    """Read hour, minute and second; None if the text is no time of the day."""
    plain = " ".join(unify_marks(text).casefold().split())
    match = _TIME.fullmatch(plain) if len(plain) <= LONGEST else None
    if match is None or not (match[2] or match[5]):
        return None
    hour, minute, second = (int(match[i] or 0) for i in (1, 3, 4))
    half = (match[5] or "")[:1] if (match[5] or "")[:1] in ("a", "p") else ""
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None
