"""Pictures of the table: what promises cost, and how often they are missed."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from research.plots import save_png

from .rows import Row

DOTS = 90
TIGHT = {"bbox_inches": "tight"}
Value = Callable[[Row], float]
Words = Callable[[Row], str]


def draw_plots(folder: Path, rows: Sequence[Row]) -> None:
    """Both pictures of the algorithms that promise something."""
    promising = [row for row in rows if row.promise != "none" and not row.skipped]
    if promising:
        save_png(draw_answers(promising), folder / "answers.png", DOTS, **TIGHT)
        save_png(draw_missed(promising), folder / "missed.png", DOTS, **TIGHT)


def draw_answers(rows: Sequence[Row]) -> Figure:
    """Answers a worker."""
    values = [row.answers / row.n for row in rows]
    return draw_grid(
        rows,
        "Answers a worker, mean (>: some runs were given up there)",
        lambda row: row.answers / row.n,
        lambda row: f"{'>' if row.capped else ''}{row.answers / row.n:,.0f}",
        LogNorm(max(1.0, min(values)), max(2.0, *values)),
    )


def draw_missed(rows: Sequence[Row]) -> Figure:
    """Return the runs that missed their own goal, of those that ended."""
    return draw_grid(
        rows,
        "Runs that missed the promise, of those that ended (colour: rate / δ)",
        lambda row: row.rate / row.delta,
        lambda row: f"{row.violations}/{row.ended}" if row.ended else "–",
        Normalize(0, 2),
    )


def draw_grid(
    rows: Sequence[Row], title: str, value: Value, words: Words, norm: Normalize
) -> Figure:
    """Draw a field for every algorithm and case, coloured by value, with words in it."""
    down = list(dict.fromkeys(row.case for row in rows))
    across = sorted(dict.fromkeys(row.algorithm for row in rows), key=_goals_of(rows).__getitem__)
    figure = Figure(figsize=(3 + 0.75 * len(across), 1.6 + 0.32 * len(down)))
    axes = figure.add_subplot(title=title)
    values = np.full((len(down), len(across)), np.nan)
    for row in rows:
        place = down.index(row.case), across.index(row.algorithm)
        values[place] = value(row)
        axes.text(place[1], place[0], words(row), ha="center", va="center", fontsize=7)
    axes.imshow(values, cmap="YlOrRd", alpha=0.6, norm=norm, aspect="auto")
    axes.set_xticks(range(len(across)), across, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(down)), down, fontsize=8)
    return figure


def _goals_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return what each promises, so that those of one promise stand side by side."""
    return {row.algorithm: row.promise for row in rows}
