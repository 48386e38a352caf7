"""A run's history as coordinates for an inline SVG, without script or library."""

from collections.abc import Sequence
from dataclasses import dataclass

from selection.models import Step

WIDTH, HEIGHT = 600, 150


@dataclass(frozen=True)
class ProgressChart:
    """Points of polygons and lines in a box of WIDTH by HEIGHT; time runs to the right.

    decided             True if there were verdicts before the last step
    accepted, rejected  areas: accepted grows from the bottom, rejected from the top
    gap, wanted         the gap as a line, and the height to which it has to fall
    """

    decided: bool
    accepted: str
    rejected: str
    gap: str
    wanted: float
    top: float
    seconds: float


def draw_progress(history: Sequence[Step], workers: int) -> ProgressChart | None:
    """Return the chart of these steps; None with fewer than two of them."""
    if len(history) < 2 or not workers:
        return None
    across = _x_positions(history)
    top = max(max(step.gap for step in history), history[-1].wanted, 0.01)
    accepted = [HEIGHT * (1 - step.accepted / workers) for step in history]
    rejected = [HEIGHT * step.rejected / workers for step in history]
    return ProgressChart(
        decided=any(step.accepted or step.rejected for step in history[:-1]),
        accepted=_svg_area(across, accepted, HEIGHT),
        rejected=_svg_area(across, rejected, 0),
        gap=_svg_points(across, [HEIGHT * (1 - step.gap / top) for step in history]),
        wanted=round(HEIGHT * (1 - history[-1].wanted / top), 1),
        top=top,
        seconds=(history[-1].at - history[0].at).total_seconds(),
    )


def _x_positions(history: Sequence[Step]) -> list[float]:
    start, end = history[0].at.timestamp(), history[-1].at.timestamp()
    span = end - start
    if not span:
        return [WIDTH * i / (len(history) - 1) for i in range(len(history))]
    return [WIDTH * (step.at.timestamp() - start) / span for step in history]


def _svg_points(across: Sequence[float], down: Sequence[float]) -> str:
    return " ".join(f"{x:.0f},{y:.1f}" for x, y in zip(across, down, strict=True))


def _svg_area(across: Sequence[float], down: Sequence[float], base: float) -> str:
    return f"{across[0]:.0f},{base} {_svg_points(across, down)} {across[-1]:.0f},{base}"
