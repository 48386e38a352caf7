"""Numbers, amounts and times in the viewer's locale; neutral in files, the API and stored texts."""

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import datetime
from decimal import Decimal
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.numbers import (
    NumberPattern,
    format_decimal,
    get_currency_symbol,
    get_decimal_symbol,
)
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation.trans_real import parse_accept_lang_header

ENGLISH = Locale("en", "US")
NO_BREAK = "\N{NO-BREAK SPACE}"

_viewer: ContextVar[Locale | None] = ContextVar("viewer", default=None)


def accepted_locale(accept_language: str) -> Locale:
    """Find the first known locale of an Accept-Language header; American English by default."""
    for tag, _quality in parse_accept_lang_header(accept_language):
        try:
            return Locale.parse(tag, sep="-")
        except (ValueError, UnknownLocaleError):
            continue
    return ENGLISH


def activate(locale: Locale | None) -> Token[Locale | None]:
    """Format for this locale, or neutrally if None, until the token is passed to deactivate."""
    return _viewer.set(locale)


def deactivate(token: Token[Locale | None]) -> None:
    _viewer.reset(token)


@contextmanager
def formatting_for(locale: Locale | None) -> Iterator[None]:
    """Format for this locale in this block; None: neutrally, for files and stored texts."""
    token = activate(locale)
    try:
        yield
    finally:
        deactivate(token)


def locale_name() -> str:
    """Name the active locale, as a part of cache keys; empty if neutral."""
    return str(_viewer.get() or "")


def decimal_mark() -> str:
    """Find the mark before decimal places; a full stop if neutral."""
    locale = _viewer.get()
    return "." if locale is None else get_decimal_symbol(locale)


def format_count(number: float) -> str:
    """Write a whole number with separators: 1,200."""
    return format_fraction(number, 0)


def format_fraction(number: float | Decimal, places: int) -> str:
    """Write a number with this many decimal places: 0.089."""
    locale = _viewer.get()
    if locale is None:
        return f"{number:,.{places}f}"
    pattern = f"#,##0.{'0' * places}" if places else "#,##0"
    return format_decimal(number, pattern, locale)


def format_figure(number: float, digits: int = 6) -> str:
    """Write a number with as many decimal places as it has: 0.05, 7.5."""
    return f"{number:.{digits}g}".replace(".", decimal_mark())


def format_plain(number: float | Decimal) -> str:
    """Write a number as a form takes it: all its digits, the decimal mark, nothing between."""
    exact = Decimal(str(number)) if isinstance(number, float) else number
    return f"{exact:f}".replace(".", decimal_mark())


def format_signed(number: float, places: int) -> str:
    """Write a number with its sign: +0.12, −0.05."""
    sign = "+" if number >= 0 else "\N{MINUS SIGN}"
    return f"{sign}{format_fraction(abs(number), places)}"


def format_percent(share: float | Decimal, places: int = 0) -> str:
    """Write a share as a percentage: 5%."""
    locale = _viewer.get() or ENGLISH
    text: str = _set_places(locale.percent_formats[None], places).apply(share, locale)
    return text


def format_points(difference: float | Decimal) -> str:
    """Write a difference of shares in percentage points: 10, 7.6, 1.25."""
    points = 100 * difference
    if isinstance(points, float):
        points = round(points, 3)
    return format_fraction(points, places_of(points))


def places_of(number: float | Decimal) -> int:
    exponent = Decimal(f"{number:.10g}").normalize().as_tuple().exponent
    return max(0, -int(exponent))


def format_currency(amount: Decimal, currency: str, places: int) -> str:
    """Write an amount with its currency: €15.80, or 15.80 € in neutral texts."""
    locale, code = _viewer.get(), currency_code(currency)
    if locale is None or code is None:
        return f"{format_fraction(amount, places)} {currency}".strip()
    pattern = _set_places(locale.currency_formats["standard"], places)
    text = pattern.apply(amount, locale, currency=code, currency_digits=False)
    # Babel does not separate CHF from the digits, as its data demand.
    symbol = re.escape(get_currency_symbol(code, locale))
    return re.sub(rf"({symbol})(?<=\w)(?=\d)", rf"\1{NO_BREAK}", text)


def format_moment(at: datetime) -> str:
    """Write a time in the server's zone, with the zone: 22 Nov 2026, 14:05 UTC."""
    return date_format(timezone.localtime(at), "DATETIME_FORMAT")


@cache
def currency_code(currency: str) -> str | None:
    """Find the ISO 4217 code of a code or symbol; None for other names."""
    name = currency.strip()
    if name.upper() in ENGLISH.currencies:
        return name.upper()
    symbols = {symbol: code for code, symbol in ENGLISH.currency_symbols.items()}
    return symbols.get(name)


def _set_places(pattern: NumberPattern, places: int) -> NumberPattern:
    changed = copy.copy(pattern)
    changed.frac_prec = (places, places)
    return changed
