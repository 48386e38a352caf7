"""How well a number of runs tells a rate."""

from scipy import stats

LEVEL = 0.99


def of_share(successes: int, runs: int) -> tuple[float, float]:
    """The exact binomial interval of Clopper and Pearson; nothing is known from no runs."""
    tail = (1 - LEVEL) / 2
    low = stats.beta.ppf(tail, successes, runs - successes + 1) if successes else 0.0
    high = stats.beta.ppf(1 - tail, successes + 1, runs - successes) if successes < runs else 1.0
    return float(low), float(high)
