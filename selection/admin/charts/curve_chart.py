"""Cost against ε and against K as shapes for an inline SVG: no script, no library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selection.forecast import Plan

WIDTH, HEIGHT = 600, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 24, 28  # room for the numbers at the axes


@dataclass(frozen=True)
class Mark:
    """A number at an axis, or a line across with its words."""

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
    """One algorithm: band and line through its points, left to right."""

    title: str
    number: int
    line: str
    band: str
    dots: list[Dot]


@dataclass(frozen=True)
class CurveChart:
    """limits: where questions and budget cut; table: the same numbers, (at, words by curve)."""

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
    """name: "epsilon" or "k". None while there are too few points to see anything."""
    ats = sorted({point["at"] for point in points})
    if len(ats) < 2:
        return None
    top = max(1, *(_band(point)[2] for point in points))
    scale = _Scale(ats, top * 1.05)
    here = plan.epsilon if name == "epsilon" else plan.k
    titles = list(dict.fromkeys(point["title"] for point in points))
    chosen = [[point for point in points if point["title"] == title] for title in titles]
    return CurveChart(
        name=name,
        curves=[_build_curve(number, own, scale) for number, own in enumerate(chosen, 1)],
        across=[Mark(scale.x(at), f"{at:g}") for at in ats],
        up=[Mark(scale.y(top * part / 4), _short_number(top * part / 4)) for part in range(5)],
        limits=_limit_marks(plan, scale, top),
        here=scale.x(here) if here in ats else None,
        table=[(f"{at:g}", [_format_cell(own, at) for own in chosen]) for at in ats],
    )


class _Scale:
    """Values of the varied number are put at equal distances: they grow by factors."""

    def __init__(self, ats: Sequence[float], top: float) -> None:
        step = (WIDTH - LEFT - RIGHT) / (len(ats) - 1)
        self._places = {at: round(LEFT + i * step, 1) for i, at in enumerate(ats)}
        self._top = top

    def x(self, at: float) -> float:
        return self._places[at]

    def y(self, answers: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - answers / self._top), 1)


def _build_curve(number: int, points: Sequence[Mapping[str, Any]], scale: _Scale) -> Curve:
    lower, middle, upper = (
        [(scale.x(one["at"]), scale.y(_band(one)[which])) for one in points] for which in range(3)
    )
    dots = [
        Dot(x, y, one["feasible"], f"{one['at']:g}: {one['median']:,} answers")
        for (x, y), one in zip(middle, points, strict=True)
    ]
    return Curve(
        points[0]["title"], number, _svg_path(middle), _svg_path(lower + upper[::-1]), dots
    )


def _band(point: Mapping[str, Any]) -> Sequence[int]:
    """Low, median, high; the median three times where there is no band."""
    return point["answers"] or [point["median"]] * 3


def _svg_path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _limit_marks(plan: Plan, scale: _Scale, top: float) -> list[Mark]:
    all_of_them = plan.workers * plan.questions
    found = [(all_of_them, "every question answered by everybody")]
    if plan.budget is not None:
        found.append((plan.budget, "budget"))
    return [Mark(scale.y(at), f"{words}: {at:,}") for at, words in found if at <= top * 1.05]


def _format_cell(points: Sequence[Mapping[str, Any]], at: float) -> str:
    found = [one for one in points if one["at"] == at]
    if not found:
        return "–"
    low, median, high = _band(found[0])
    more = [] if low == high else [f"{low:,} to {high:,}"]
    more += [] if found[0]["answers"] else [f"too few simulations yet: {found[0]['runs']}"]
    more += [] if found[0]["feasible"] else ["finished in fewer than nine of ten"]
    return f"{median:,} ({', '.join(more)})" if more else f"{median:,}"


def _short_number(answers: float) -> str:
    return f"{answers / 1000:.3g}k" if answers >= 10_000 else f"{answers:,.0f}"
