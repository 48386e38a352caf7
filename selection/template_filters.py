"""Template filters for numbers, percentages and times in the viewer's locale, and links to terms.

They are built in: templates need not load them.
"""

from datetime import datetime
from typing import Any

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from selection import extensions, texts, viewer_locale

register = template.Library()


def _parse_number(value: Any) -> float | None:
    """Parse the value as a number; None for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@register.filter
def number(value: Any) -> str:
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_count(figure)


@register.filter
def decimal(value: Any, places: int = 2) -> str:
    """Write a number with this many decimal places: 0.089."""
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_fraction(figure, places)


@register.filter
def figure(value: Any) -> str:
    """Write a number with as many decimal places as it has: 0.05."""
    number = _parse_number(value)
    return "" if number is None else viewer_locale.format_figure(number)


@register.filter
def signed_points(value: Any) -> str:
    """Write a difference of shares in percentage points, with its sign: +12, −5."""
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_signed(100 * figure, 0)


@register.filter
def percent(value: Any, places: int = 0) -> str:
    """Write a share as a percentage: 0.05 as 5%."""
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_percent(figure, places)


@register.filter
def of_100(value: Any) -> str:
    """Write a number of hundredths as a percentage: 5 as 5%."""
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_percent(figure / 100)


@register.filter
def count(value: Any, noun: str) -> str:
    """Write a number with its noun: 1 worker, 1,200 workers."""
    figure = _parse_number(value)
    return "" if figure is None else texts.count_noun(figure, noun)


@register.filter
def noun(value: Any, singular: str) -> str:
    return texts.plural(singular, _parse_number(value) or 0)


@register.filter
def points(value: Any) -> str:
    """Write a difference of shares in percentage points: 0.1 as 10."""
    figure = _parse_number(value)
    return "" if figure is None else viewer_locale.format_points(figure)


@register.simple_tag
def term(anchor: str, words: str) -> SafeString:
    return format_html('<a class="cs-term" href="{}#{}">{}</a>', reverse("terms"), anchor, words)


@register.filter
def moment(value: Any) -> str:
    """Write a time as plain text, for attributes and pictures: 22 Nov 2026, 14:05 UTC."""
    return viewer_locale.format_moment(value) if isinstance(value, datetime) else ""


@register.filter
def local_time(value: Any) -> SafeString | str:
    """Write a time that static/selection/local_time.js shows in the browser's zone."""
    if not isinstance(value, datetime):
        return ""
    machine = timezone.localtime(value).isoformat(timespec="seconds")
    return format_html('<time datetime="{}">{}</time>', machine, viewer_locale.format_moment(value))


@register.simple_tag(takes_context=True)
def pieces(context: Context, place: str) -> SafeString:
    """Draw the pieces that apps add at this place of a page."""
    values: dict[str, Any] = {str(name): value for name, value in context.flatten().items()}
    drawn = [
        render_to_string(piece.template, {**values, **facts})
        for piece in extensions.PIECES[place]
        if (facts := piece.facts(values)) is not None
    ]
    return mark_safe("".join(drawn))  # noqa: S308  (templates escaped it)
