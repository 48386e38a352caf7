"""Durations in words."""

from datetime import timedelta

from selection.texts import count_noun

# Seconds per unit. A unit is used from two of them on, so that none is "1 hours".
UNITS = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]


def format_duration(span: timedelta) -> str:
    """Write the span in one unit, two of it at least: 40 seconds, 90 minutes, 3 days."""
    seconds = max(0, round(span.total_seconds()))
    for size, unit in UNITS:
        if seconds >= 2 * size or size == 1:
            return count_noun(round(seconds / size), unit)
    raise AssertionError("seconds are the last unit")
