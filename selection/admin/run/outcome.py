"""The outcome of an ended run for the top of its page: the selected workers, and the cost."""

from collections import Counter
from collections.abc import Sequence

from selection import reports
from selection.facts import Facts
from selection.models import Run
from selection.reports import WorkerStanding

from . import table
from .forecast_running import format_cost

# The table below has the others: the guarantee and the cost must stay in the first screen.
MOST_NAMED = 8


def build_outcome(run: Run, lines: Sequence[WorkerStanding]) -> Facts | None:
    """Describe the outcome; None if the run has not ended.

    lines  of all workers, best first in each skill
    """
    if run.status != Run.Status.ENDED:
        return None
    selected = [line for line in lines if line.selected]
    groups = [
        _build_group(run, skill.number, [line for line in selected if line.number == skill.number])
        for skill in run.skills
    ]
    return Facts(
        groups=[group for group in groups if group.named],
        selected=len(selected),
        cost=_cost(run, lines),
    )


def _build_group(run: Run, number: int, selected: list[WorkerStanding]) -> Facts:
    rows = [(line, format_accuracy(line, run.fixed_budget)) for line in selected[:MOST_NAMED]]
    skill = selected[0].skill if selected else ""
    return Facts(skill=skill, number=number, named=rows, more=len(selected) - len(rows))


def format_accuracy(line: WorkerStanding, without_bounds: bool) -> str:
    """Write the share of right answers with its bounds, rounded outwards: 89%, 81–95.

    without_bounds  as for a run with a fixed budget, whose bounds mean nothing
    """
    if line.mean is None:
        return "no answer counted"
    share = table.format_share(line)
    return share if without_bounds else f"{share}, {table.format_bounds(line)}"


def _cost(run: Run, lines: Sequence[WorkerStanding]) -> str:
    workers = Counter(line.number for line in lines)
    everything = sum(workers[skill.number] * skill.deck_size for skill in run.skills)
    paid = format_cost(run, reports.count_given(run))
    return f"{paid}. Testing everyone on every question: {format_cost(run, everything)}."
