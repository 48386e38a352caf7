"""Scales and lines that the charts share."""

from collections.abc import Sequence
from datetime import datetime

WIDTH, HEIGHT = 600, 150  # of a chart, if it has no size of its own


def place_times(times: Sequence[datetime], width: float) -> list[float]:
    """Place two or more times from 0 to ``width``, evenly if they are all one."""
    seconds = [(at - times[0]).total_seconds() for at in times]
    return (
        [width * at / seconds[-1] for at in seconds] if seconds[-1] else spread(len(times), width)
    )


def spread(count: int, width: float) -> list[float]:
    """Space this number of positions, two or more, evenly from 0 to ``width``."""
    return [width * i / (count - 1) for i in range(count)]


def draw_line(across: Sequence[float], down: Sequence[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))


def draw_band(across: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> str:
    return draw_line([*across, *reversed(across)], [*lower, *reversed(upper)])
