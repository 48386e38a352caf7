"""Standouts and laggards: workers just ahead of nearly equal others, or just behind; not covered.

One wrong choice there costs just more than epsilon, and few answers say little about those few. The
priors of `credible`, with caution or without, have no such pools (docs/credible.md, Standouts).
"""

from topk.population_summary import PopulationSummary
from topk.problem import Problem

FEW = 0.2  # of the pool, at most: where more are selected, one wrong choice costs less than epsilon
NEARLY_EQUAL = 0.08  # standard deviation of accuracies; those of usual bells are .1 to .15
SMALL = 20  # workers, below which the guarantee of an early end is in doubt

STANDOUTS = (
    "It does not cover a pool where one or a few workers stand out from nearly equal others by a "
    "lead close to ε: in such pools, a fifth to four fifths of the measured runs were wrong."
)
LAGGARDS = (
    "It does not cover a pool where one or a few workers fall behind nearly equal others, so far "
    "that selecting one of them costs just more than ε: in such a pool, half to three quarters of "
    "the measured runs were wrong."
)
EARLY = (
    "Before its own end it does not cover a small pool of two groups that are far apart: in such a "
    "pool, up to nine tenths of the measured runs were wrong."
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
    """Return which pools break the guarantee, '' if such pools are not known."""
    if problem.k <= FEW * problem.n:
        return STANDOUTS
    return LAGGARDS if problem.n - problem.k <= FEW * problem.n else ""


def warn_of_standouts(problem: Problem, fitted: PopulationSummary) -> str:
    """Return a warning if the pool may have standouts or laggards, else ''."""
    limits, rate = name_limits(problem), RATE.format(delta=100 * problem.delta)
    if limits == LAGGARDS:  # a few answers end such a run, and their spread says nothing
        return WARNING_BEHIND.format(loss=problem.k * problem.epsilon) + rate
    if not limits or fitted.spread > NEARLY_EQUAL or fitted.border > 1 - problem.epsilon:
        return ""
    return WARNING.format(spread=fitted.spread, epsilon=problem.epsilon) + rate
