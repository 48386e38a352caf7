"""The run's selection in the formats of the platforms."""

from collections.abc import Iterable, Iterator
from typing import Any

from selection.models import Run

from .context import ExportContext
from .writing import ExportTable, plain_lines, program_csv


def write_mturk(context: ExportContext) -> Iterator[bytes]:
    """Yield MTurk's file of workers: the selected get the qualification, with a score, 0 to 100."""
    rows = (
        [worker, *_cells_by_kind(context.run, scores)]
        for worker, lines in context.selected_lines.items()
        if (scores := [(line.number, round(100 * (line.mean or 0))) for line in lines])
    )
    return program_csv(ExportTable(_qualification_headings(context), rows))


def mturk_revoke(context: ExportContext) -> Iterator[bytes]:
    """Yield MTurk's file of tested workers that were not selected: they lose the qualification."""
    rows = (
        [worker, *_cells_by_kind(context.run, [(line.number, "Revoke") for line in rejected])]
        for worker, lines in context.lines_by_worker.items()
        if (rejected := [line for line in lines if line.judged and not line.selected])
    )
    return program_csv(ExportTable(_qualification_headings(context), rows))


def _qualification_headings(context: ExportContext) -> list[str]:
    names = [context.name]
    if context.run.several:
        names = [f"{context.name}: {skill}" for skill in context.run.skills]
    return ["Worker ID", *(f"UPDATE-{name}" for name in names)]


def _cells_by_kind(run: Run, values: Iterable[tuple[int, Any]]) -> list[Any]:
    cells = dict(values)
    return [cells.get(number, "") for number in range(len(run.skills))]


def prolific_allow(context: ExportContext) -> Iterator[bytes]:
    return plain_lines([worker] for worker in context.selected_lines)


def prolific_block(context: ExportContext) -> Iterator[bytes]:
    """Yield the tested workers that were not selected. A worker without answers may be good."""
    chosen = context.selected_lines
    return plain_lines(
        [worker]
        for worker, lines in context.lines_by_worker.items()
        if worker not in chosen and any(line.judged for line in lines)
    )
