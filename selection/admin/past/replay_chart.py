"""Replays of past answers as coordinates for two inline SVGs: answers needed, and losses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selection.replays.results import MethodResult
from selection.viewer_locale import format_count

WIDTH, LEFT, RIGHT = 440, 104, 26
ROW, TOP, BOTTOM = 34, 10, 26
SPREAD = 16  # vertical room of a method's dots


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    kind: str


@dataclass(frozen=True)
class ChartRow:
    """A method: its dots, the bar of four replays of five, and the line of the median."""

    title: str
    y: float
    bar: tuple[float, float]
    median: float
    dots: list[Dot]

    @property
    def top(self) -> float:
        return self.y - SPREAD / 2 - 2

    @property
    def end(self) -> float:
        return self.y + SPREAD / 2 + 2


@dataclass(frozen=True)
class ReplayChart:
    """A chart; ``marks`` are (x, words) of the axis, ``line`` (x, words) a line across it."""

    name: str
    label: str
    rows: list[ChartRow]
    marks: list[tuple[float, str]]
    line: tuple[float, str] | None
    height: int

    @property
    def bottom(self) -> int:
        return self.height - BOTTOM


def draw_charts(methods: Sequence[MethodResult], answers: int, epsilon: float) -> list[ReplayChart]:
    counts = _draw_chart(
        "answers",
        "Answers used",
        methods,
        lambda one: one[0],
        answers,
        format_count,
    )
    worst = max([epsilon, *(loss for row in methods for _, loss, _, _ in row.plays)])
    losses = _draw_chart(
        "loss",
        "Points below the best selection",
        methods,
        lambda one: one[1],
        worst * 1.05,
        lambda at: f"{100 * at:g}",
        (epsilon, f"{100 * epsilon:g} points"),
    )
    return [counts, losses]


def _draw_chart(
    name: str,
    label: str,
    methods: Sequence[MethodResult],
    value: Callable[[tuple[int, float, bool, bool]], float],
    most: float,
    words: Callable[[float], str],
    line: tuple[float, str] | None = None,
) -> ReplayChart:
    def place(at: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * at / (most or 1), 1)

    rows = []
    for number, method in enumerate(methods):
        y = TOP + ROW * number + ROW / 2
        values = sorted(value(one) for one in method.plays)
        heights = [y + SPREAD * ((i + 0.5) / len(values) - 0.5) for i in range(len(values))]
        dots = [
            Dot(place(value(one)), round(height, 1), _kind(one))
            for one, height in zip(method.plays, heights, strict=True)
        ]
        tail = len(values) // 10
        bar = place(values[tail]), place(values[-1 - tail])
        middle = place(values[(len(values) - 1) // 2])
        rows.append(ChartRow(method.title, y, bar, middle, dots))
    return ReplayChart(
        name=name,
        label=label,
        rows=rows,
        marks=[(place(at), words(at)) for at in _round_marks(most)],
        line=line and (place(line[0]), line[1]),
        height=TOP + ROW * len(methods) + BOTTOM,
    )


def _round_marks(most: float) -> list[float]:
    """Return round numbers from 0 to ``most``, at most five."""
    power = 10.0 ** math.floor(math.log10(most / 4)) if most else 1.0
    step = next((f * power for f in (1, 2, 5, 10) if 4 * f * power >= most), 10 * power)
    return [round(i * step, 6) for i in range(5) if i * step <= most]


def _kind(played: tuple[int, float, bool, bool]) -> str:
    """Return the style of a dot: stopped by itself, cut short, or with a false guarantee."""
    _, _, stopped, untrue = played
    return "untrue" if untrue else "kept" if stopped else "early"
