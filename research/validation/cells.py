"""An algorithm on a case, as a cell of the table."""

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
        """One row: as many runs as the effort allows, or the sentence why there can be none."""
        try:
            runs = list(measure_runs(self.case, self.algorithm, self.effort))
        except ProblemError as error:
            return [row_without_runs(self.case, self.algorithm, str(error))]
        return [row_of(self.case, self.algorithm, runs, self.effort.cap_for(self.algorithm))]
