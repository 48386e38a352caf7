"""The run's selection in the formats of the platforms."""

from collections.abc import Iterable, Iterator
from typing import Any

from selection.models import Run
from selection.reports import WorkerStanding

from .context import ExportContext
from .writing import ExportTable, json_list, plain_lines, program_csv


def write_mturk(context: ExportContext) -> Iterator[bytes]:
    """Yield MTurk's file of workers: the selected get the qualification, with a score."""
    chosen = context.selected_lines
    rows = (
        [worker, *_cells_by_kind(context.run, map(_mturk_scores, chosen[worker]))]
        for worker in chosen
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


def _mturk_scores(line: WorkerStanding) -> tuple[int, int]:
    """Compute the kind of task and the score. MTurk's scores are whole, 0 to 100."""
    return line.number, round(percent_right(line))


def _cells_by_kind(run: Run, values: Iterable[tuple[int, Any]]) -> list[Any]:
    cells = dict(values)
    return [cells.get(number, "") for number in range(len(run.skills))]


def percent_right(line: WorkerStanding) -> float:
    """Compute the share of right answers, 0 to 100; 0 without any, as after a verdict by hand."""
    return round(100 * (line.mean or 0.0), 2)


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


def label_studio(context: ExportContext) -> Iterator[bytes]:
    """Yield annotators as Label Studio lists them, by the number or address in ``completed_by``."""
    several = context.run.several
    return json_list(
        _annotator_payload(worker) | ({"skills": [line.skill for line in lines]} if several else {})
        for worker, lines in context.selected_lines.items()
    )


def _annotator_payload(worker: str) -> dict[str, Any]:
    if worker.isascii() and worker.isdecimal() and str(int(worker)) == worker:
        return {"id": int(worker)}
    return {"email": worker} if "@" in worker else {"username": worker}


# -- crowd-kit


def crowd_kit(context: ExportContext) -> Iterator[bytes]:
    """Yield a row for each tested worker: in pandas, a Series ``skill`` by ``worker``."""
    several = context.run.several
    lines = (line for line in context.standings.lines if line.mean is not None)
    rows = ([line.worker, line.mean, *([line.skill] if several else [])] for line in lines)
    return program_csv(ExportTable(["worker", "skill", *(["kind"] if several else [])], rows))


def crowd_kit_answers(context: ExportContext) -> Iterator[bytes]:
    return program_csv(ExportTable(["worker", "task", "label"], _answer_triples(context.run)))


def _answer_triples(run: Run) -> Iterator[list[str]]:
    """Yield every given answer, including those to questions that were retired since.

    With several kinds of task a task is named with its kind, because two sets may name one alike.
    """
    rows = run.answers.filter(expired=False).responded().order_by("assignment")
    fields = ("worker__key", "skill")
    kinds = [f"{skill}: " if run.several else "" for skill in run.skills]
    triples = rows.values_list(
        *(f"assignment__candidate__{name}" for name in fields),
        "assignment__question__key",
        "response",
    )
    for worker, skill, question, response in triples.iterator(5000):
        yield [worker, kinds[skill] + question, response]
