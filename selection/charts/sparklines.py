"""Small charts within a line of a table."""

from collections.abc import Sequence

from selection.facts import Facts

from .scales import draw_line, spread

WIDTH, HEIGHT = 120, 28
WINDOW = 20  # gold answers of a moving share


def draw_sparkline(right: Sequence[bool], level: float) -> Facts | None:
    """Return the moving share of right answers and the level; None with fewer than two answers."""
    if len(right) < 2:
        return None
    ends = range(1, len(right) + 1)
    windows = [right[max(0, end - WINDOW) : end] for end in ends]
    down = [HEIGHT * (1 - sum(window) / len(window)) for window in windows]
    return Facts(
        points=draw_line(spread(len(down), WIDTH), down),
        level=round(HEIGHT * (1 - level), 1),
        answers=len(windows[-1]),
        right=sum(windows[-1]),
    )
