"""Charts of a run: verdicts and gap, answers over time, and the fitted population."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from selection.models import Run, Step
from selection.reports import DOUBT, PopulationSummary, count_points, rounded_up

from .scales import HEIGHT, WIDTH, draw_band, draw_line, place_times

COURSE_WIDTH, COURSE_HEIGHT, MOST_POINTS = 640, 180, 300
BINS_HEIGHT = 40


@dataclass(frozen=True)
class ProgressChart:
    """Points of polygons and lines in a box of WIDTH by HEIGHT; time runs to the right.

    decided             True if there were verdicts before the last step
    accepted, rejected  areas: accepted grows from the bottom, rejected from the top
    gap, wanted         the gap as a line, and the height to which it has to fall
    top, target         the largest gap and that to reach, in words
    """

    decided: bool
    accepted: str
    rejected: str
    gap: str
    wanted: float
    top: str
    target: str


def draw_progress(history: Sequence[Step], workers: int) -> ProgressChart | None:
    """Return the chart of these steps; None with fewer than two of them."""
    if len(history) < 2 or not workers:
        return None
    across = place_times([step.at for step in history], WIDTH)
    top = max(max(step.gap for step in history), history[-1].wanted, 0.01)
    accepted = [HEIGHT * (1 - step.accepted / workers) for step in history]
    rejected = [HEIGHT * step.rejected / workers for step in history]
    return ProgressChart(
        decided=any(step.accepted or step.rejected for step in history[:-1]),
        accepted=draw_band(across, accepted, [HEIGHT] * len(across)),
        rejected=draw_band(across, rejected, [0] * len(across)),
        gap=draw_line(across, [HEIGHT * (1 - step.gap / top) for step in history]),
        wanted=round(HEIGHT * (1 - history[-1].wanted / top), 1),
        top=count_points(rounded_up(top)),
        target=count_points(history[-1].wanted),
    )


@dataclass(frozen=True)
class CourseChart:
    """Answers counted over time. points: of a line in a box of COURSE_WIDTH by COURSE_HEIGHT."""

    points: str
    total: int
    start: datetime
    end: datetime


def draw_course(run: Run) -> CourseChart | None:
    steps = list(run.history.order_by("number").values_list("at", "applied"))
    counted = list(accumulate(applied for _, applied in steps))
    if len(steps) < 2 or not counted[-1]:
        return None
    across = place_times([at for at, _ in steps], COURSE_WIDTH)
    down = [COURSE_HEIGHT * (1 - count / counted[-1]) for count in counted]
    drawn = [*range(0, len(steps) - 1, -(-len(steps) // MOST_POINTS)), len(steps) - 1]
    points = draw_line([across[i] for i in drawn], [down[i] for i in drawn])
    return CourseChart(points, counted[-1], steps[0][0], steps[-1][0])


@dataclass(frozen=True)
class PopulationBar:
    x: float
    y: float
    width: float
    height: float
    best: bool


@dataclass(frozen=True)
class PopulationChart:
    """A bar per accuracy bin in a box of ``width`` by ``height``.

    fitted    the population; ``doubtful`` if its p-value is below ``level``
    border    horizontal position of the best K's lowest accuracy
    p_value   of the goodness-of-fit test, as text
    """

    fitted: PopulationSummary
    bars: list[PopulationBar]
    border: float
    p_value: str
    height: int = BINS_HEIGHT
    level: float = DOUBT

    @property
    def width(self) -> int:
        return len(self.bars)

    @property
    def doubtful(self) -> bool:
        return self.fitted.p_value < self.level


def draw_population(fitted: PopulationSummary) -> PopulationChart:
    border, most = fitted.border * len(fitted.shares), max(fitted.shares)
    heights = [BINS_HEIGHT * share / most * 0.96 for share in fitted.shares]
    bars = [
        PopulationBar(i + 0.08, BINS_HEIGHT - height, 0.84, height, i + 0.5 > border)
        for i, height in enumerate(heights)
    ]
    return PopulationChart(fitted, bars, border, _format_p_value(fitted.p_value))


def _format_p_value(p: float) -> str:
    if p < 0.001:
        return "less than 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
