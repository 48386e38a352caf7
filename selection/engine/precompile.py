"""Compile the inner loops that an algorithm needs, before the database is locked for it."""

import numpy as np

from selection.models import Run
from topk import MultiProblem, Problem, build_selector

EPSILON, DELTA, BUDGET = 0.5, 0.1, 1000


def precompile_run(run: Run) -> None:
    """Run all calls that the engine makes to this run's algorithm, on a toy problem.

    Its inner loops are compiled at the first call if ``make setup`` has not done it: that takes
    half a minute, in which no other process could write.
    """
    options = run.hand_set | ({"questions": BUDGET} if "accuracy" in run.hand_set else {})
    problem = Problem(3, 1, EPSILON, DELTA, BUDGET)
    if run.selector_class.several_skills:
        problem = MultiProblem.build([0, 0, 1, 1], [1, 1], EPSILON, DELTA, BUDGET)
    selector = build_selector(run.algorithm, problem, **options)
    everyone = np.arange(problem.n)
    for _ in range(3):
        if selector.stop():
            return
        counts = np.minimum(selector.takes(), 1)
        selector.tell(everyone, counts * (everyone % 2), counts)
        selector.standing()
        selector.selection()
        for slots in (None, 4):
            selector.ask(slots, np.zeros_like(counts), np.full_like(counts, 9), run.step_rng())
