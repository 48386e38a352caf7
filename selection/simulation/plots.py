"""Plot of a comparison: every replay a dot."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selection.replays.what_if import WhatIfRow

ENDINGS = (".svg", ".png")
KEPT, EARLY, UNTRUE = "#2a6f97", "#9a9a9a", "#c1121f"
BAR = {"lw": 9, "color": "#dfe7ec", "solid_capstyle": "butt", "zorder": 0}
DOTS, HEIGHT, SPREAD = 120, 0.55, 0.32


def save_plot(rows: Sequence[WhatIfRow], epsilon: float, path: Path) -> None:
    """Write SVG or PNG by the ending of the name; the same file for the same rows."""
    dated = {"Date": None} if path.suffix.lower() == ".svg" else {}
    with mpl.rc_context({"svg.hashsalt": "what-if", "svg.fonttype": "none"}):
        draw_plot(rows, epsilon).savefig(path, dpi=DOTS, bbox_inches="tight", metadata=dated)


def draw_plot(rows: Sequence[WhatIfRow], epsilon: float) -> Figure:
    """Return a figure with answers at the left, true losses at the right, an algorithm a line."""
    figure = Figure(figsize=(9.5, 1.8 + HEIGHT * len(rows)), layout="constrained")
    answers, losses = figure.subplots(1, 2, sharey=True)
    for place, row in enumerate(rows):
        answers.plot([row.low, row.high], [place, place], **BAR)
        answers.plot([row.answers] * 2, [place - 0.3, place + 0.3], color="black", lw=1, zorder=3)
        _draw_dots(answers, place, row, [play.answers for play in row.plays])
        _draw_dots(losses, place, row, [play.regrets.aggregate for play in row.plays])
    losses.axvline(epsilon, color="black", ls=":", lw=1)
    losses.text(epsilon, -0.62, f" ε = {epsilon:g}", va="bottom", fontsize=8)
    answers.set_yticks(range(len(rows)), [f"{row.algorithm}\n{row.promises}" for row in rows])
    answers.set_ylim(len(rows) - 0.4, -0.65)
    answers.set(xlabel="answers (bar: four runs of five, line: median)")
    losses.set(xlabel="true loss (mean of the best less that of the selected)")
    if max(row.high for row in rows) > 20 * max(1, min(row.low for row in rows)):
        answers.set_xscale("log")
    else:
        answers.set_xlim(left=0)
    answers.xaxis.set_major_formatter("{x:,.0f}")
    losses.set_xlim(left=min(-0.001, -epsilon / 20))
    _draw_legend(figure, answers)
    return figure


def _draw_dots(axes: Axes, place: int, row: WhatIfRow, values: Sequence[float]) -> None:
    """Draw the values, spread within the line so that equal ones are visible."""
    heights = place + SPREAD * (np.arange(len(values)) / max(1, len(values) - 1) - 0.5)
    axes.scatter(
        values, heights, s=12, c=[_ending_colour(play.ending, play.true) for play in row.plays]
    )
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _ending_colour(ending: str, true: bool | None) -> str:
    if true is False:
        return UNTRUE
    return KEPT if ending == "promise" and true else EARLY


def _draw_legend(figure: Figure, axes: Axes) -> None:
    meanings = {
        KEPT: "ended with its promise",
        EARLY: "ended before, or promises nothing",
        UNTRUE: "what it promised at its end is not true",
    }
    handles = [
        axes.scatter([], [], s=16, c=colour, label=label) for colour, label in meanings.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=8)
