"""Standouts: workers whose lead over nearly equal others is close to epsilon; not covered.

A wrong choice there costs the whole lead, which is just more than epsilon, and few answers say
little about the leaders. The priors of `credible`, with caution or without, have no such pools
(docs/credible.md, Standouts).
"""

from topk.population_summary import PopulationSummary
from topk.problem import Problem

FEW = 0.2  # of the pool, at most: where more are selected, one wrong choice costs less than epsilon
NEARLY_EQUAL = 0.08  # standard deviation of accuracies; those of usual bells are .1 to .15

LIMITS = (
    "It does not cover a pool where one or a few workers stand out from nearly equal others by a "
    "lead close to ε: in such pools, a fifth to four fifths of the measured runs were wrong."
)
WARNING = (
    "The workers seem nearly equal (standard deviation of accuracies {spread:.2f}), and one or a "
    "few of them may stand out by a lead close to ε = {epsilon:g}. In such pools this algorithm is "
    "wrong far more often than in {delta:g} % of runs. “certified” and “universal” cover them."
)


def is_exposed(problem: Problem) -> bool:
    """Return True if so few are selected that standouts can break the guarantee."""
    return problem.k <= FEW * problem.n


def warn_of_standouts(problem: Problem, fitted: PopulationSummary) -> str:
    """Return a warning if the fitted population allows such standouts, else ''."""
    if (
        not is_exposed(problem)
        or fitted.spread > NEARLY_EQUAL
        or fitted.border > 1 - problem.epsilon
    ):
        return ""
    return WARNING.format(spread=fitted.spread, epsilon=problem.epsilon, delta=100 * problem.delta)
