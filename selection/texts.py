"""Counts in words. Every noun after a number comes from here."""

from decimal import Decimal

from selection import viewer_locale

# Plurals that do not end in -s, and verbs by their plural.
IRREGULAR = {
    "entry": "entries",
    "person": "people",
    "query": "queries",
    "reply": "replies",
    "try": "tries",
    "watch": "watches",
}
VERBS = {"are": "is", "were": "was", "have": "has"}


def plural(noun: str, count: float = 0) -> str:
    """Form the plural of the noun, unless there is exactly one."""
    return noun if count == 1 else IRREGULAR.get(noun, f"{noun}s")


def count_noun(count: float, noun: str, verb: str = "") -> str:
    """Write the number with its noun: 1 worker, 1,200 workers; 1 worker is with the verb “are”."""
    return _join_words(viewer_locale.format_count(count), count, noun, verb)


def counted(count: float, noun: str, verb: str = "") -> str:
    """Write the same for stored texts, commands and programs, in no viewer's locale."""
    return _join_words(f"{count:,}", count, noun, verb)


def count_points(difference: float | Decimal) -> str:
    """Count a difference of accuracies in percentage points, with the noun: 9.6 points."""
    points = viewer_locale.format_points(difference)
    return f"{points} point{'' if points == '1' else 's'}"


def _join_words(number: str, count: float, noun: str, verb: str) -> str:
    words = [number, plural(noun, count)]
    if verb:
        words.append(VERBS.get(verb, f"{verb}s") if count == 1 else verb)
    return " ".join(words)
