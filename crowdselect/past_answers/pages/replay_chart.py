"""Replays of past answers as coordinates for two inline SVGs: answers needed, and losses."""

import math
from collections.abc import Callable, Sequence

from crowdselect.past_answers.results import MethodResult
from selection.facts import Facts
from selection.viewer_locale import format_count, format_figure

WIDTH, LEFT, RIGHT = 440, 104, 26
ROW, TOP, BOTTOM = 34, 10, 26
SPREAD = 16  # vertical room of a method's dots


def draw_charts(methods: Sequence[MethodResult], answers: int, epsilon: float) -> list[Facts]:
    counts = _draw_chart(
        "answers", "Answers used", methods, lambda one: one[0], answers, format_count
    )
    worst = max([epsilon, *(loss for row in methods for _, loss, _, _ in row.plays)])
    losses = _draw_chart(
        "loss",
        "Points below the best selection",
        methods,
        lambda one: one[1],
        worst * 1.05,
        lambda at: f"{format_figure(100 * at)}",
        (epsilon, f"{format_figure(100 * epsilon)} points"),
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
) -> Facts:
    def place(at: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * at / (most or 1), 1)

    rows = []
    for number, method in enumerate(methods):
        y = TOP + ROW * number + ROW / 2
        values = sorted(value(one) for one in method.plays)
        heights = [y + SPREAD * ((i + 0.5) / len(values) - 0.5) for i in range(len(values))]
        dots = [
            Facts(x=place(value(one)), y=round(height, 1), kind=_kind(one))
            for one, height in zip(method.plays, heights, strict=True)
        ]
        tail = len(values) // 10
        bar = place(values[tail]), place(values[-1 - tail])
        middle = place(values[(len(values) - 1) // 2])
        rows.append(
            Facts(
                title=method.title,
                y=y,
                bar=bar,
                median=middle,
                dots=dots,
                top=y - SPREAD / 2 - 2,
                end=y + SPREAD / 2 + 2,
            )
        )
    height = TOP + ROW * len(methods) + BOTTOM
    return Facts(
        name=name,
        label=label,
        rows=rows,
        marks=[(place(at), words(at)) for at in _round_marks(most)],
        line=line and (place(line[0]), line[1]),
        height=height,
        bottom=height - BOTTOM,
    )


def _round_marks(most: float) -> list[float]:
    """Choose round numbers from 0 to ``most``, at most five."""
    power = 10.0 ** math.floor(math.log10(most / 4)) if most else 1.0
    step = next((f * power for f in (1, 2, 5, 10) if 4 * f * power >= most), 10 * power)
    return [round(i * step, 6) for i in range(5) if i * step <= most]


def _kind(played: tuple[int, float, bool, bool]) -> str:
    """Style a dot: stopped by itself, cut short, or with a false guarantee."""
    _, _, stopped, untrue = played
    return "untrue" if untrue else "kept" if stopped else "early"
