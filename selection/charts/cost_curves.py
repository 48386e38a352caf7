"""Cost against ε and against K."""

from collections.abc import Mapping, Sequence
from typing import Any

from selection.facts import Facts
from selection.forecast import Plan
from selection.texts import counted

from .scales import draw_band, draw_line, spread

WIDTH, HEIGHT = 600, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 24, 28  # room for the numbers at the axes


def draw_curve(name: str, points: Sequence[Mapping[str, Any]], plan: Plan) -> Facts | None:
    values = sorted({point["at"] for point in points})
    if len(values) < 2:
        return None
    top = max(1, *(_band(point)[2] for point in points))
    scale = _Scale(values, top * 1.05)
    current = plan.epsilon if name == "epsilon" else plan.k
    titles = list(dict.fromkeys(point["title"] for point in points))
    by_title = [[point for point in points if point["title"] == title] for title in titles]
    return Facts(
        name=name,
        curves=[_build_curve(number, curve, scale) for number, curve in enumerate(by_title, 1)],
        across=[Facts(at=scale.x(at), words=f"{at:g}") for at in values],
        up=[
            Facts(at=scale.y(top * part / 4), words=_short_number(top * part / 4))
            for part in range(5)
        ],
        limits=_limit_marks(plan, scale, top),
        here=scale.x(current) if current in values else None,
        table=[(f"{at:g}", [_format_cell(curve, at) for curve in by_title]) for at in values],
        titles=titles,
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


def _build_curve(number: int, points: Sequence[Mapping[str, Any]], scale: _Scale) -> Facts:
    across = [scale.x(point["at"]) for point in points]
    lower, middle, upper = ([scale.y(_band(point)[i]) for point in points] for i in range(3))
    dots = [
        Facts(
            x=x,
            y=y,
            ends=point["feasible"],
            words=f"{point['at']:g}: {counted(point['median'], 'answer')}",
        )
        for x, y, point in zip(across, middle, points, strict=True)
    ]
    line, band = draw_line(across, middle), draw_band(across, lower, upper)
    return Facts(title=points[0]["title"], number=number, line=line, band=band, dots=dots)


def _band(point: Mapping[str, Any]) -> Sequence[int]:
    return point["answers"] or [point["median"]] * 3


def _limit_marks(plan: Plan, scale: _Scale, top: float) -> list[Facts]:
    maximum = plan.workers * plan.questions
    limits = [(maximum, "all workers answer all questions")]
    if plan.budget is not None:
        limits.append((plan.budget, "budget"))
    return [
        Facts(at=scale.y(at), words=f"{words}: {at:,}") for at, words in limits if at <= top * 1.05
    ]


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
