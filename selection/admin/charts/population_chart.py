"""The fitted population of a run as coordinates for an inline SVG."""

from dataclasses import dataclass

from selection.reports import DOUBT, PopulationSummary

HEIGHT = 40


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    best: bool


@dataclass(frozen=True)
class PopulationChart:
    """A bar per accuracy bin in a box of ``width`` by ``height``.

    border    horizontal position of the best K's lowest accuracy, which is ``above``
    p_value   of the goodness-of-fit test, as text; ``doubtful`` if below ``level``
    """

    bars: list[Bar]
    width: int
    height: int
    border: float
    above: float
    mean: float
    spread: float
    p_value: str
    level: float
    doubtful: bool


def draw_population(fitted: PopulationSummary) -> PopulationChart:
    steps = len(fitted.shares)
    border = fitted.border * steps
    return PopulationChart(
        bars=[
            _draw_bar(i, share / max(fitted.shares), i + 0.5 > border)
            for i, share in enumerate(fitted.shares)
        ],
        width=steps,
        height=HEIGHT,
        border=border,
        above=fitted.border,
        mean=fitted.mean,
        spread=fitted.spread,
        p_value=_p_value(fitted.p_value),
        level=DOUBT,
        doubtful=fitted.p_value < DOUBT,
    )


def _p_value(p: float) -> str:
    if p < 0.001:
        return "less than 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _draw_bar(number: int, share: float, best: bool) -> Bar:
    height = HEIGHT * share * 0.96
    return Bar(number + 0.08, HEIGHT - height, 0.84, height, best)
