"""Cost against ε and against K."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selection.forecast import Plan
from selection.texts import counted

from .scales import draw_band, draw_line, spread

WIDTH, HEIGHT = 600, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 24, 28  # room for the numbers at the axes


@dataclass(frozen=True)
class Mark:
    """A number at an axis, or a labelled line across the chart."""

    at: float
    words: str


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    ends: bool
    words: str


@dataclass(frozen=True)
class Curve:
    """The band and line of an algorithm, from left to right."""

    title: str
    number: int
    line: str
    band: str
    dots: list[Dot]


@dataclass(frozen=True)
class CurveChart:
    """The curves of all algorithms with their axes.

    name    the varied setting, "epsilon" or "k"
    across  marks of the horizontal axis; up: of the vertical one
    limits  lines at the number of questions and at the budget
    here    position of the plan's own value; None if it was not simulated
    table   the same numbers as text: (value, a cell per curve)
    """

    name: str
    curves: list[Curve]
    across: list[Mark]
    up: list[Mark]
    limits: list[Mark]
    here: float | None
    table: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def titles(self) -> list[str]:
        return [curve.title for curve in self.curves]


def draw_curve(name: str, points: Sequence[Mapping[str, Any]], plan: Plan) -> CurveChart | None:
    """Return the chart of one varied setting; None with fewer than two values of it."""
    values = sorted({point["at"] for point in points})
    if len(values) < 2:
        return None
    top = max(1, *(_band(point)[2] for point in points))
    scale = _Scale(values, top * 1.05)
    current = plan.epsilon if name == "epsilon" else plan.k
    titles = list(dict.fromkeys(point["title"] for point in points))
    chosen = [[point for point in points if point["title"] == title] for title in titles]
    return CurveChart(
        name=name,
        curves=[_build_curve(number, curve, scale) for number, curve in enumerate(chosen, 1)],
        across=[Mark(scale.x(at), f"{at:g}") for at in values],
        up=[Mark(scale.y(top * part / 4), _short_number(top * part / 4)) for part in range(5)],
        limits=_limit_marks(plan, scale, top),
        here=scale.x(current) if current in values else None,
        table=[(f"{at:g}", [_format_cell(curve, at) for curve in chosen]) for at in values],
    )


class _Scale:
    """Positions in the chart. Values of the setting grow by factors, so they are equidistant."""

    def __init__(self, ats: Sequence[float], top: float) -> None:
        places = spread(len(ats), WIDTH - LEFT - RIGHT)
        self._places = {at: round(LEFT + x, 1) for at, x in zip(ats, places, strict=True)}
        self._top = top

    def x(self, at: float) -> float:
        return self._places[at]

    def y(self, answers: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - answers / self._top), 1)


def _build_curve(number: int, points: Sequence[Mapping[str, Any]], scale: _Scale) -> Curve:
    across = [scale.x(point["at"]) for point in points]
    lower, middle, upper = ([scale.y(_band(point)[i]) for point in points] for i in range(3))
    dots = [
        Dot(x, y, point["feasible"], f"{point['at']:g}: {counted(point['median'], 'answer')}")
        for x, y, point in zip(across, middle, points, strict=True)
    ]
    line, band = draw_line(across, middle), draw_band(across, lower, upper)
    return Curve(points[0]["title"], number, line, band, dots)


def _band(point: Mapping[str, Any]) -> Sequence[int]:
    return point["answers"] or [point["median"]] * 3


def _limit_marks(plan: Plan, scale: _Scale, top: float) -> list[Mark]:
    maximum = plan.workers * plan.questions
    limits = [(maximum, "all workers answer all questions")]
    if plan.budget is not None:
        limits.append((plan.budget, "budget"))
    return [Mark(scale.y(at), f"{words}: {at:,}") for at, words in limits if at <= top * 1.05]


def _format_cell(points: Sequence[Mapping[str, Any]], at: float) -> str:
    rows = [point for point in points if point["at"] == at]
    if not rows:
        return "–"
    low, median, high = _band(rows[0])
    notes = [] if low == high else [f"{low:,} to {high:,}"]
    notes += [] if rows[0]["answers"] else [f"too few simulations yet: {rows[0]['runs']}"]
    notes += [] if rows[0]["feasible"] else ["runs out of questions or budget"]
    return f"{median:,} ({', '.join(notes)})" if notes else f"{median:,}"


def _short_number(answers: float) -> str:
    return f"{answers / 1000:.3g}k" if answers >= 10_000 else f"{answers:,.0f}"
