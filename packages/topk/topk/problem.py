"""The problem of a selector: find the best k of n arms."""

from dataclasses import dataclass


class ProblemError(ValueError):
    """A problem that no algorithm can be run on. The message is a sentence for users."""


@dataclass(frozen=True)
class Problem:
    """Choose the ``k`` best of ``n`` arms whose rewards lie in [0, 1].

    n        number of arms, at least 2
    k        arms to select, 1 to n - 1
    epsilon  accuracy wanted, 0 <= epsilon < 1, in units of mean reward
    delta    error probability of the guarantee, 0 < delta < 1
    budget   most pulls that may be made in all, at least 1, or None for no limit

    Raises ProblemError when a value is out of range.
    """

    n: int
    k: int
    epsilon: float = 0.0
    delta: float = 0.05
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ProblemError(f"There must be at least 2 workers to choose from, not {self.n}.")
        if not 1 <= self.k < self.n:
            raise ProblemError(
                f"K must be at least 1 and less than the number of workers ({self.n}), "
                f"but it is {self.k}."
            )
        if not 0 <= self.epsilon < 1:
            raise ProblemError(f"Epsilon must be at least 0 and below 1, but it is {self.epsilon}.")
        if not 0 < self.delta < 1:
            raise ProblemError(f"Delta must be above 0 and below 1, but it is {self.delta}.")
        if self.budget is not None and self.budget < 1:
            raise ProblemError(f"The budget must be at least 1 answer, but it is {self.budget}.")
