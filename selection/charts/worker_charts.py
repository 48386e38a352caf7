"""Charts of workers: the standings of a run, the answers of one, and lines in a watch's table."""

from collections.abc import Sequence

from selection.facts import Facts
from selection.reports import WorkerStanding

from .scales import HEIGHT, WIDTH, draw_band, draw_line, spread

# Bars of the standings: the first selected, and the best of the others.
MOST_SELECTED, MOST_OTHERS = 30, 15
ROW, LEFT, RIGHT = 18, 190, 560
LINE_WIDTH, LINE_HEIGHT = 120, 28
WINDOW = 20  # gold answers of a moving share


def draw_standings(lines: Sequence[WorkerStanding]) -> Facts | None:
    """Draw the chart of one kind of task; None before any answer."""
    chosen = [line for line in lines if line.answers and line.selected]
    others = [line for line in lines if line.answers and not line.selected]
    drawn = chosen[:MOST_SELECTED] + others[:MOST_OTHERS]
    bars = [_draw_bar(line, ROW * place) for place, line in enumerate(drawn)]
    rest = len(lines) - len(drawn)
    return Facts(bars=bars, height=ROW * len(bars), left_out=rest) if bars else None


def _draw_bar(line: WorkerStanding, y: int) -> Facts:
    scale = RIGHT - LEFT  # the interval from x to x + width, the share of right answers at tick
    return Facts(
        worker=line.worker if len(line.worker) <= 24 else f"{line.worker[:23]}…",
        answers=line.answers,
        selected=line.selected,
        y=y,
        x=round(LEFT + scale * line.lower, 1),
        width=round(max(1.0, scale * (line.upper - line.lower)), 1),
        tick=None if line.mean is None else round(LEFT + scale * line.mean, 1),
        base=y + 13,
    )


def draw_answers(points: Sequence[Facts]) -> Facts | None:
    if len(points) < 2:
        return None
    across = spread(len(points), WIDTH)
    mean, lower, upper = (
        [HEIGHT * (1 - getattr(point, name)) for point in points]
        for name in ("mean", "lower", "upper")
    )
    return Facts(
        band=draw_band(across, upper, lower), mean=draw_line(across, mean), answers=len(points)
    )


def draw_sparkline(right: Sequence[bool], level: float) -> Facts | None:
    """Return the moving share of right answers and the level; None with fewer than two answers."""
    if len(right) < 2:
        return None
    ends = range(1, len(right) + 1)
    windows = [right[max(0, end - WINDOW) : end] for end in ends]
    down = [LINE_HEIGHT * (1 - sum(window) / len(window)) for window in windows]
    return Facts(
        points=draw_line(spread(len(down), LINE_WIDTH), down),
        level=round(LINE_HEIGHT * (1 - level), 1),
        answers=len(windows[-1]),
        right=sum(windows[-1]),
    )
