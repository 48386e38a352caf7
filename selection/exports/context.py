"""What is to be exported."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from selection import reports
from selection.models import Run
from selection.reports import GuaranteeStatus, RunStandings, WorkerStanding


@dataclass(frozen=True)
class ExportContext:
    """named  what the qualification or the skill is called on the platform; empty: as the run
    pay    what a worker is paid for an answer; None: as workers were told, or the run's price
    """

    run: Run
    named: str = ""
    pay: Decimal | None = None

    @property
    def name(self) -> str:
        return self.named or self.run.name

    @cached_property
    def seen(self) -> RunStandings:
        """Read once, however many tables are made of it."""
        return reports.run_standings(self.run)

    @cached_property
    def promised(self) -> GuaranteeStatus:
        return reports.promise_status(self.run, self.seen.named, self.seen.fit)

    @cached_property
    def people(self) -> dict[str, list[WorkerStanding]]:
        """The lines of each worker: one for each kind of task."""
        found: dict[str, list[WorkerStanding]] = {}
        for line in self.seen.lines:
            found.setdefault(line.worker, []).append(line)
        return found

    @property
    def chosen(self) -> dict[str, list[WorkerStanding]]:
        """Of those who are selected, for any kind of task, the lines of those they are for."""
        picked = {
            worker: [line for line in lines if line.selected]
            for worker, lines in self.people.items()
        }
        return {worker: lines for worker, lines in picked.items() if lines}
