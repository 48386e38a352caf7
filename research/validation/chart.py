"""One chart: answers needed against the size of the pool."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from research.cells import Study
from research.plots import save_png

from .cases import beta_case
from .rows import Row
from .suite import StudySettings, study_of

SIZES = (25, 50, 100, 200, 400)
EPSILONS = (0.05, 0.1)
LINES = (
    "adaptive-top-k",
    "lucb",
    "ugape-c",
    "clucb-pac",
    "kl-lucb",
    "certified",
    "universal",
    "credible",
)
OURS = ("certified", "universal", "credible")
FOLDER, PICTURE = "chart", "pool-size.png"
CAP, DOTS = 30_000_000, 90


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of the chart's algorithms on growing pools."""
    pools = [beta_case(6, 2, n, n // 5, epsilon, 0.05) for epsilon in EPSILONS for n in SIZES]
    lines = [name for name in LINES if name in wanted.algorithms]
    effort = replace(wanted.effort, cap=max(CAP, wanted.effort.cap))
    return study_of(StudySettings(pools, lines, effort, wanted.out / FOLDER), _print_chart)


def _print_chart(folder: Path, rows: Sequence[Row]) -> None:
    save_png(draw_chart(rows), folder.parent / PICTURE, DOTS, bbox_inches="tight")


def draw_chart(rows: Sequence[Row]) -> Figure:
    """Return the chart: a field for each epsilon, a line for each algorithm."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    fields = figure.subplots(1, len(EPSILONS), sharey=True)
    for axes, epsilon in zip(fields, EPSILONS, strict=True):
        _draw_field(axes, [row for row in rows if row.epsilon == epsilon])
        axes.set_title(f"to within ε = {epsilon:g}")
    fields[0].set_ylabel("paid answers in all (mean)")
    handles = fields[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside right center", frameon=False)
    return figure


def _draw_field(axes: Axes, rows: Sequence[Row]) -> None:
    for name in LINES:
        line = sorted((row for row in rows if row.algorithm == name), key=lambda row: row.n)
        if line:
            _draw_line(axes, line)
    axes.set(xscale="log", yscale="log", xlabel="workers in the pool, K a fifth")
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(alpha=0.3)


def _draw_line(axes: Axes, line: Sequence[Row]) -> None:
    """Draw a line, labelled with its guarantee: costs of different ones are not comparable."""
    name, promise = line[0].algorithm, line[0].promise
    width = 2.5 if name in OURS else 1
    sizes, answers = [row.n for row in line], [row.answers for row in line]
    axes.plot(sizes, answers, marker="o", label=f"{name}: {promise}", lw=width)
