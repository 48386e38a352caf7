"""Times and counts as people say them."""

from datetime import timedelta

# From how many seconds on a span is told in a larger unit: two of them, so that none is "1 hours".
UNITS = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]


def format_duration(span: timedelta) -> str:
    """The span in one unit: 40 seconds, 90 minutes, 6 hours, 3 days. Never 0 of the next larger."""
    seconds = max(0, round(span.total_seconds()))
    for size, unit in UNITS:
        if seconds >= 2 * size or size == 1:
            return count_noun(seconds // size, unit)
    raise AssertionError("seconds are the last unit")


def count_noun(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
