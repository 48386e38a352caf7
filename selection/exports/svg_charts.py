"""Charts of a report as shapes for inline SVG: without a script, a style or a library."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from selection.models import Run
from selection.reports import WorkerStanding

WIDTH, HEIGHT = 640, 180
MOST_POINTS = 300
# Bars of the standings: the first selected, and the best of the others.
MOST_SELECTED, MOST_OTHERS = 30, 15
ROW, LEFT, RIGHT = 18, 190, 560


@dataclass(frozen=True)
class CourseChart:
    """Answers counted over time. points: of a line in a box of WIDTH by HEIGHT."""

    points: str
    total: int
    start: datetime
    end: datetime


@dataclass(frozen=True)
class Bar:
    """A worker: the interval from x to x + width, the share of right answers at tick."""

    worker: str
    answers: int
    selected: bool
    y: int
    x: float
    width: float
    tick: float | None

    @property
    def middle(self) -> int:
        return self.y + ROW // 2

    @property
    def base(self) -> int:
        """Baseline of the text."""
        return self.y + 13


@dataclass(frozen=True)
class StandingsChart:
    """Bars of the standings; ``left_out`` is the number of workers without a bar."""

    bars: list[Bar]
    height: int
    left_out: int


def draw_course(run: Run) -> CourseChart | None:
    """Return the chart; None with too few steps for a line."""
    steps = list(run.history.order_by("number").values_list("at", "applied"))
    counted = list(accumulate(applied for _, applied in steps))
    if len(steps) < 2 or not counted[-1]:
        return None
    times = [at.timestamp() for at, _ in steps]
    span = (times[-1] - times[0]) or 1.0
    stride = -(-len(steps) // MOST_POINTS)
    indexes = [*range(0, len(steps) - 1, stride), len(steps) - 1]
    points = (
        f"{WIDTH * (times[i] - times[0]) / span:.1f},{HEIGHT * (1 - counted[i] / counted[-1]):.1f}"
        for i in indexes
    )
    return CourseChart(" ".join(points), counted[-1], steps[0][0], steps[-1][0])


def draw_standings(lines: Sequence[WorkerStanding]) -> StandingsChart | None:
    """Return the chart of one kind of task; None before any answer."""
    tested = [line for line in lines if line.answers]
    if not tested:
        return None
    chosen = [line for line in tested if line.selected]
    others = [line for line in tested if not line.selected]
    drawn = chosen[:MOST_SELECTED] + others[:MOST_OTHERS]
    bars = [_draw_bar(line, ROW * place) for place, line in enumerate(drawn)]
    return StandingsChart(bars, ROW * len(bars), len(lines) - len(drawn))


def _draw_bar(line: WorkerStanding, y: int) -> Bar:
    scale = RIGHT - LEFT
    name = line.worker if len(line.worker) <= 24 else f"{line.worker[:23]}…"
    return Bar(
        worker=name,
        answers=line.answers,
        selected=line.selected,
        y=y,
        x=round(LEFT + scale * line.lower, 1),
        width=round(max(1.0, scale * (line.upper - line.lower)), 1),
        tick=None if line.mean is None else round(LEFT + scale * line.mean, 1),
    )
