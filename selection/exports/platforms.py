"""Whom a run selected, in the forms that the platforms take."""

from collections.abc import Iterable, Iterator
from typing import Any

from selection.models import Run
from selection.reports import WorkerStanding

from .context import ExportContext
from .writing import ExportTable, json_list, plain_lines, program_csv


def write_mturk(wanted: ExportContext) -> Iterator[bytes]:
    """MTurk's file of workers: whoever is selected gets the qualification, with a score."""
    chosen = wanted.chosen
    rows = (
        [worker, *_cells_by_kind(wanted.run, map(_mturk_scores, chosen[worker]))]
        for worker in chosen
    )
    return program_csv(ExportTable(_qualification_headings(wanted), rows))


def mturk_revoke(wanted: ExportContext) -> Iterator[bytes]:
    """Whoever was tested and is not selected loses it."""
    others = (
        [worker, *_cells_by_kind(wanted.run, [(line.number, "Revoke") for line in left])]
        for worker, lines in wanted.people.items()
        if (left := [line for line in lines if line.judged and not line.selected])
    )
    return program_csv(ExportTable(_qualification_headings(wanted), others))


def _qualification_headings(wanted: ExportContext) -> list[str]:
    """A qualification for each kind of task."""
    names = [wanted.name]
    if wanted.run.several:
        names = [f"{wanted.name}: {skill}" for skill in wanted.run.skills]
    return ["Worker ID", *(f"UPDATE-{name}" for name in names)]


def _mturk_scores(line: WorkerStanding) -> tuple[int, int]:
    """MTurk's scores are whole, 0 to 100."""
    return line.number, round(percent_right(line))


def _cells_by_kind(run: Run, values: Iterable[tuple[int, Any]]) -> list[Any]:
    """Of these values by kind of task, a cell for each kind."""
    known = dict(values)
    return [known.get(number, "") for number in range(len(run.skills))]


def percent_right(line: WorkerStanding) -> float:
    """The share of right answers, 0 to 100; 0 for whom there is none: chosen by hand alone."""
    return round(100 * (line.mean or 0.0), 2)


def prolific_allow(wanted: ExportContext) -> Iterator[bytes]:
    return plain_lines([worker] for worker in wanted.chosen)


def prolific_block(wanted: ExportContext) -> Iterator[bytes]:
    """Workers who were tested and not selected. One who never answered may still be good."""
    chosen = wanted.chosen
    return plain_lines(
        [worker]
        for worker, lines in wanted.people.items()
        if worker not in chosen and any(line.judged for line in lines)
    )


def write_toloka(wanted: ExportContext) -> Iterator[bytes]:
    """The body of Toloka's call that sets skills of many users."""
    several = wanted.run.several
    return json_list(
        {
            "skill_id": f"{wanted.name}: {line.skill}" if several else wanted.name,
            "user_id": worker,
            "value": percent_right(line),
            "reason": f"Selected in {wanted.run}",
        }
        for worker, lines in wanted.chosen.items()
        for line in lines
    )


def label_studio(wanted: ExportContext) -> Iterator[bytes]:
    """Annotators as Label Studio lists them, by the number or address that ``completed_by`` has."""
    several = wanted.run.several
    return json_list(
        _annotator_payload(worker) | ({"skills": [line.skill for line in lines]} if several else {})
        for worker, lines in wanted.chosen.items()
    )


def _annotator_payload(worker: str) -> dict[str, Any]:
    if worker.isascii() and worker.isdecimal() and str(int(worker)) == worker:
        return {"id": int(worker)}
    return {"email": worker} if "@" in worker else {"username": worker}


# -- crowd-kit


def crowd_kit(wanted: ExportContext) -> Iterator[bytes]:
    """Everybody who was tested: a Series ``skill`` by ``worker``, once it is read by pandas."""
    several = wanted.run.several
    lines = (line for line in wanted.seen.lines if line.mean is not None)
    rows = ([line.worker, line.mean, *([line.skill] if several else [])] for line in lines)
    return program_csv(ExportTable(["worker", "skill", *(["kind"] if several else [])], rows))


def crowd_kit_answers(wanted: ExportContext) -> Iterator[bytes]:
    return program_csv(ExportTable(["worker", "task", "label"], _answer_triples(wanted.run)))


def _answer_triples(run: Run) -> Iterator[list[str]]:
    """Every answer that was given, also to questions that were retired since.

    With several kinds of task a task is named with its kind, because two sets may name one alike.
    """
    rows = run.answers.filter(expired=False).responded().order_by("assignment")
    fields = ("worker__key", "skill")
    kinds = [f"{skill}: " if run.several else "" for skill in run.skills]
    found = rows.values_list(
        *(f"assignment__candidate__{name}" for name in fields),
        "assignment__question__key",
        "response",
    )
    for worker, skill, question, response in found.iterator(5000):
        yield [worker, kinds[skill] + question, response]
