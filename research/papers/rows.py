"""Rows of the table of results: one for each point of a plot."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """The result of ``runs`` plays of one algorithm on one instance.

    budget      -1 if the algorithm stops by itself
    unfinished  plays given up at a cap; they count as failures too
    failures    plays with a selection worse than the tolerance allows
    error       failures / runs, with its exact (Clopper-Pearson) 99 % interval
    pulls       mean number in plays that ended, standard error, 99 % interval (Student's t)
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
        """The columns that comparable rows share."""
        return self.experiment, self.n, self.k, self.budget
