"""Charts of workers: the standings of a run, and the answers of one worker."""

from collections.abc import Sequence
from dataclasses import dataclass

from selection.reports import Point, WorkerStanding

from .scales import HEIGHT, WIDTH, draw_band, draw_line, spread

# Bars of the standings: the first selected, and the best of the others.
MOST_SELECTED, MOST_OTHERS = 30, 15
ROW, LEFT, RIGHT = 18, 190, 560


@dataclass(frozen=True)
class WorkerBar:
    """A worker: the interval from x to x + width, the share of right answers at tick."""

    worker: str
    answers: int
    selected: bool
    y: int
    x: float
    width: float
    tick: float | None

    @property
    def base(self) -> int:
        return self.y + 13


@dataclass(frozen=True)
class StandingsChart:
    """Bars of the standings. left_out: number of workers without a bar."""

    bars: list[WorkerBar]
    height: int
    left_out: int


def draw_standings(lines: Sequence[WorkerStanding]) -> StandingsChart | None:
    """Return the chart of one kind of task; None before any answer."""
    chosen = [line for line in lines if line.answers and line.selected]
    others = [line for line in lines if line.answers and not line.selected]
    drawn = chosen[:MOST_SELECTED] + others[:MOST_OTHERS]
    bars = [_draw_bar(line, ROW * place) for place, line in enumerate(drawn)]
    return StandingsChart(bars, ROW * len(bars), len(lines) - len(drawn)) if bars else None


def _draw_bar(line: WorkerStanding, y: int) -> WorkerBar:
    scale = RIGHT - LEFT
    return WorkerBar(
        worker=line.worker if len(line.worker) <= 24 else f"{line.worker[:23]}…",
        answers=line.answers,
        selected=line.selected,
        y=y,
        x=round(LEFT + scale * line.lower, 1),
        width=round(max(1.0, scale * (line.upper - line.lower)), 1),
        tick=None if line.mean is None else round(LEFT + scale * line.mean, 1),
    )


@dataclass(frozen=True)
class AnswerChart:
    """A box of WIDTH by HEIGHT: the interval as an area, the share right as a line."""

    band: str
    mean: str
    answers: int


def draw_answers(points: Sequence[Point]) -> AnswerChart | None:
    if len(points) < 2:
        return None
    across = spread(len(points), WIDTH)
    mean, lower, upper = (
        [HEIGHT * (1 - getattr(point, name)) for point in points]
        for name in ("mean", "lower", "upper")
    )
    return AnswerChart(draw_band(across, upper, lower), draw_line(across, mean), len(points))
