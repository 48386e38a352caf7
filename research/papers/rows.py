"""The table of results: one row for each point of a plot, as it stands in the CSV."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What ``runs`` plays of one algorithm on one instance came to.

    budget      -1 where the algorithm stops of itself
    unfinished  plays that were given up at a cap; they count as failures too
    failures    plays that named a set worse than the tolerance allows
    error       failures / runs, with its exact (Clopper-Pearson) 99 % interval
    pulls       mean number of the plays that ended, standard error, 99 % interval (Student's t)
    seed        play r has the seed (seed << 20) + r
    """

    experiment: str
    series: str
    algorithm: str
    options: str
    n: int
    k: int
    budget: int
    runs: int
    failures: int
    unfinished: int
    error: float
    error_low: float
    error_high: float
    pulls: float
    pulls_se: float
    pulls_low: float
    pulls_high: float
    seed: int

    @property
    def place(self) -> tuple[str, int, int, int]:
        """What rows that may be compared have in common."""
        return self.experiment, self.n, self.k, self.budget
