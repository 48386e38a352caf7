"""Counts in words. Every noun after a number comes from here."""

from selection import viewer_locale

# Plurals that do not end in -s.
IRREGULAR = {"entry": "entries", "person": "people", "query": "queries"}


def plural(noun: str, count: float = 0) -> str:
    """Return the noun, or its plural unless there is exactly one."""
    return noun if count == 1 else IRREGULAR.get(noun, f"{noun}s")


def count_noun(count: float, noun: str) -> str:
    """Return the number with its noun: 1 worker, 1,200 workers."""
    return f"{viewer_locale.format_count(count)} {plural(noun, count)}"
