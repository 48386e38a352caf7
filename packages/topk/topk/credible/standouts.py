"""Standouts, laggards and two groups just far enough apart that one wrong choice costs epsilon.

Few answers say little about those few, or about which group a worker is of. The priors of
`credible`, with caution or without, give such pools little weight or none, and its guarantee is an
average: it names them as not covered (docs/credible.md, Standouts).
"""

from topk.population_summary import PopulationSummary
from topk.problem import Problem

from .groups import GAPS

FEW = 0.2  # of the pool, at most: where more are selected, one wrong choice costs less than epsilon
NEARLY_EQUAL = 0.08  # standard deviation of accuracies; those of usual bells are .1 to .15
HIDDEN = GAPS[1]  # groups that are farther apart show

STANDOUTS = (
    "It does not cover a pool where one or a few workers stand out from nearly equal others by a "
    "lead close to ε: in such pools, a fifth to four fifths of the measured runs were wrong."
)
LAGGARDS = (
    "It does not cover a pool where one or a few workers fall behind nearly equal others, so far "
    "that selecting one of them costs just more than ε: in such a pool, half to three quarters of "
    "the measured runs were wrong."
)
TWO_GROUPS = (
    "It does not cover a pool of two groups just so far apart that one wrong choice costs more "
    "than ε: in such pools, half to two thirds of the measured runs were wrong at δ = 0.2."
)
EARLY = (
    "Before its own end it does not cover a pool of two groups that are far apart: in such pools, "
    "a twelfth to a quarter of the measured ends were wrong at δ = 0.05, and more at a larger δ."
)
WARNING = (
    "The workers seem nearly equal (standard deviation of accuracies {spread:.2f}), and one or a "
    "few of them may stand out by a lead close to ε = {epsilon:g}. "
)
WARNING_BEHIND = "One or a few of the workers may fall behind by just more than K ε = {loss:.3g}. "
RATE = (
    "In such pools this algorithm is wrong far more often than in {delta:g} % of runs. “certified” "
    "and “universal” cover them."
)


def name_limits(problem: Problem) -> str:
    """Name which pools break the guarantee, '' if such pools are not known."""
    if problem.k <= FEW * problem.n:
        return STANDOUTS
    if problem.n - problem.k <= FEW * problem.n:
        return LAGGARDS
    return TWO_GROUPS if problem.k * problem.epsilon <= HIDDEN else ""


def warn_of_standouts(problem: Problem, fitted: PopulationSummary) -> str:
    """Write a warning if the pool may have standouts or laggards, else ''.

    Two groups cannot be told from a bell, which is why they break the guarantee.
    """
    limits, rate = name_limits(problem), RATE.format(delta=100 * problem.delta)
    if limits == LAGGARDS:  # a few answers end such a run, and their spread says nothing
        return WARNING_BEHIND.format(loss=problem.k * problem.epsilon) + rate
    if limits != STANDOUTS or fitted.spread > NEARLY_EQUAL or fitted.border > 1 - problem.epsilon:
        return ""
    return WARNING.format(spread=fitted.spread, epsilon=problem.epsilon) + rate
