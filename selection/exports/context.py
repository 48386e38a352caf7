"""The run to export, and the results shared by its tables."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from selection import reports
from selection.models import Run
from selection.reports import RunGuarantee, RunStandings, WorkerStanding


@dataclass(frozen=True)
class ExportContext:
    """A run to export.

    named  name of the qualification on the platform; empty: the run's name
    pay    pay for an answer; None: the pay that workers were told, or the run's price
    """

    run: Run
    named: str = ""
    pay: Decimal | None = None

    @property
    def name(self) -> str:
        return self.named or self.run.name

    @cached_property
    def standings(self) -> RunStandings:
        """Standings of the run, read once for all tables."""
        return reports.run_standings(self.run)

    @cached_property
    def guarantee(self) -> RunGuarantee:
        return reports.guarantee_of_run(self.run, self.standings.selection, self.standings.fit)

    @cached_property
    def lines_by_worker(self) -> dict[str, list[WorkerStanding]]:
        lines: dict[str, list[WorkerStanding]] = {}
        for line in self.standings.lines:
            lines.setdefault(line.worker, []).append(line)
        return lines

    @property
    def selected_lines(self) -> dict[str, list[WorkerStanding]]:
        picked = {
            worker: [line for line in lines if line.selected]
            for worker, lines in self.lines_by_worker.items()
        }
        return {worker: lines for worker, lines in picked.items() if lines}
