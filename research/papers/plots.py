"""Plots with a panel per instance, a line per algorithm, and 99 % bars."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator, NullLocator

from research.plots import save_png

from .rows import Row

MARKERS = "osD^vPX"
DOTS = 80
STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float
    high: float


Lines = dict[str, list[Point]]


@dataclass(frozen=True)
class Panel:
    title: str
    lines: Lines


@dataclass(frozen=True)
class Figure:
    """A plot; ``name`` is the end of its file's name."""

    name: str
    x: str
    y: str
    panels: list[Panel]
    columns: int
    log_x: bool = False


def lines_by_series(rows: Iterable[Row], x: str, y: str) -> Lines:
    """Return a line per series: x is a column, y is "error" or "pulls" (per arm)."""
    lines: Lines = defaultdict(list)
    for row in rows:
        lines[row.series].append(_row_point(row, x, y))
    return {series: sorted(points, key=lambda point: point.x) for series, points in lines.items()}


def _row_point(row: Row, x: str, y: str) -> Point:
    scale = row.n if y == "pulls" else 1
    value, low, high = (getattr(row, name) / scale for name in (y, f"{y}_low", f"{y}_high"))
    return Point(getattr(row, x), value, low, high)


def draw_plot(figure: Figure, stem: Path) -> Path:
    """Write stem-name.png."""
    with mpl.rc_context(STYLE):
        return save_png(
            _build_canvas(figure), stem.with_name(f"{stem.name}-{figure.name}.png"), DOTS
        )


def _build_canvas(figure: Figure) -> Canvas:
    rows = math.ceil(len(figure.panels) / figure.columns)
    canvas = Canvas(figsize=(11, 2.5 * rows + 0.6), layout="constrained")
    every = list(canvas.subplots(rows, figure.columns, squeeze=False).flat)
    colours = _series_colours(figure)
    for axes, panel in zip(every, figure.panels, strict=False):
        _fill_panel(axes, figure, panel, colours)
    for axes in every[len(figure.panels) :]:
        axes.set_axis_off()
    handles = {
        label: handle
        for axes in every
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    canvas.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=7, frameon=False
    )
    return canvas


def _series_colours(figure: Figure) -> dict[str, int]:
    """Return a colour number per series, the same in all panels."""
    names = dict.fromkeys(name for panel in figure.panels for name in panel.lines)
    return {name: number for number, name in enumerate(names)}


def _fill_panel(axes: Axes, figure: Figure, panel: Panel, colours: dict[str, int]) -> None:
    for series, points in panel.lines.items():
        number = colours[series]
        axes.errorbar(
            [point.x for point in points],
            [point.y for point in points],
            [
                [_bar_length(point.y - point.low) for point in points],
                [_bar_length(point.high - point.y) for point in points],
            ],
            label=series,
            color=f"C{number}",
            marker=MARKERS[number % len(MARKERS)],
            markersize=3,
            linewidth=1,
            elinewidth=0.5,
            clip_on=False,
        )
    axes.set(title=panel.title, xlabel=figure.x, ylabel=figure.y)
    axes.set_ylim(bottom=0)
    _set_ticks(axes, figure, panel)


def _set_ticks(axes: Axes, figure: Figure, panel: Panel) -> None:
    """Set ticks at whole numbers; on a log scale at the points."""
    if not figure.log_x:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    places = sorted({point.x for points in panel.lines.values() for point in points})
    axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:,.0f}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())


def _bar_length(length: float) -> float:
    """Return the length of a bar; 0 if the interval is unknown."""
    return max(0.0, length) if math.isfinite(length) else 0.0
