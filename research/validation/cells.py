"""A cell of the table: an algorithm on a case."""

from dataclasses import dataclass

from topk import ProblemError

from .cases import Case
from .measure import Effort, measure_runs
from .rows import Row, row_of, row_without_runs


@dataclass(frozen=True)
class Cell:
    case: Case
    algorithm: str
    effort: Effort

    @property
    def title(self) -> str:
        return f"{self.algorithm} on {self.case.name}"

    @property
    def key(self) -> str:
        return f"{self.title}, {self.effort}"

    def play(self) -> list[Row]:
        """Return one row: of the runs that the effort allows, or with the reason against any."""
        try:
            runs = list(measure_runs(self.case, self.algorithm, self.effort))
        except ProblemError as error:
            return [row_without_runs(self.case, self.algorithm, str(error))]
        return [row_of(self.case, self.algorithm, runs, self.effort.cap_for(self.algorithm))]
