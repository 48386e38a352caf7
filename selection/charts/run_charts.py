"""Charts of a run: verdicts and gap, answers over time, and the fitted population."""

from collections.abc import Sequence
from itertools import accumulate

from selection.facts import Facts
from selection.models import Run, Step
from selection.reports import DOUBT, PopulationSummary, rounded_up
from selection.texts import count_points

from .scales import HEIGHT, WIDTH, draw_band, draw_line, place_times

COURSE_WIDTH, COURSE_HEIGHT, MOST_POINTS = 640, 180, 300
BINS_HEIGHT = 40


def draw_progress(history: Sequence[Step], workers: int) -> Facts | None:
    if len(history) < 2 or not workers:
        return None
    across = place_times([step.at for step in history], WIDTH)
    top = max(max(step.gap for step in history), history[-1].wanted, 0.01)
    accepted = [HEIGHT * (1 - step.accepted / workers) for step in history]
    rejected = [HEIGHT * step.rejected / workers for step in history]
    return Facts(
        decided=any(step.accepted or step.rejected for step in history[:-1]),
        accepted=draw_band(across, accepted, [HEIGHT] * len(across)),
        rejected=draw_band(across, rejected, [0] * len(across)),
        gap=draw_line(across, [HEIGHT * (1 - step.gap / top) for step in history]),
        wanted=round(HEIGHT * (1 - history[-1].wanted / top), 1),
        top=count_points(rounded_up(top)),
        target=count_points(history[-1].wanted),
    )


def draw_course(run: Run) -> Facts | None:
    steps = list(run.history.order_by("number").values_list("at", "applied"))
    totals = list(accumulate(applied for _, applied in steps))
    if len(steps) < 2 or not totals[-1]:
        return None
    across = place_times([at for at, _ in steps], COURSE_WIDTH)
    down = [COURSE_HEIGHT * (1 - count / totals[-1]) for count in totals]
    drawn = [*range(0, len(steps) - 1, -(-len(steps) // MOST_POINTS)), len(steps) - 1]
    points = draw_line([across[i] for i in drawn], [down[i] for i in drawn])
    return Facts(points=points, total=totals[-1], start=steps[0][0], end=steps[-1][0])


def draw_population(fitted: PopulationSummary) -> Facts:
    border, most = fitted.border * len(fitted.shares), max(fitted.shares)
    heights = [BINS_HEIGHT * share / most * 0.96 for share in fitted.shares]
    bars = [
        Facts(x=i + 0.08, y=BINS_HEIGHT - height, width=0.84, height=height, best=i + 0.5 > border)
        for i, height in enumerate(heights)
    ]
    return Facts(
        fitted=fitted,
        bars=bars,
        border=border,
        p_value=_format_p_value(fitted.p_value),
        height=BINS_HEIGHT,
        level=DOUBT,
        width=len(bars),
        doubtful=fitted.p_value < DOUBT,
    )


def _format_p_value(p: float) -> str:
    if p < 0.001:
        return "less than 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
