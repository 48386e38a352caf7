"""A population of workers in numbers for display."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PopulationSummary:
    """The population that an algorithm fits to the pool.

    mean, spread  mean and standard deviation of the workers' accuracies
    border        the accuracy that K of the workers are expected to exceed
    shares        of the workers, by accuracy, in steps of equal width from 0 to 1
    p_value       of the check that one bell of workers explains the answers
    """

    mean: float
    spread: float
    border: float
    shares: tuple[float, ...]
    p_value: float
