"""A population of workers in numbers that can be shown to a person."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PopulationSummary:
    """What an algorithm that fits a population to the pool takes it to be.

    mean, spread  mean and standard deviation of the workers' accuracies
    border        the accuracy that K of the workers are expected to exceed
    shares        of the workers, by accuracy, in steps of equal width from 0 to 1
    p_value       of the check whether one bell of workers explains the answers
    """

    mean: float
    spread: float
    border: float
    shares: tuple[float, ...]
    p_value: float
