"""Charts of the cost of a run, as the wizard draws them."""

from selection.charts.cost_curves import draw_curve
from selection.forecast import Plan


def test_a_curve_without_answers_lies_on_the_axis():
    settings = Plan(workers=8, k=7, epsilon=0.2, delta=0.05, questions=20, price=0.05)
    point = {"title": "Certified", "feasible": True, "answers": (0, 0, 0), "median": 0}
    chart = draw_curve("epsilon", [point | {"at": at} for at in (0.1, 0.2)], settings)
    assert {dot.y for dot in chart.curves[0].dots} == {chart.up[0].at}
