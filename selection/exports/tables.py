"""Workers and settings of a run as tables, for people and their programs."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from selection import reports
from selection.models import Run
from selection.reports import WorkerStanding

from .context import ExportContext
from .writing import ExportTable, json_text

CHUNK = 2000
EVERYBODY = [
    *("worker", "name", "selected", "by_algorithm", "verdict", "presence"),
    *("answers", "right", "wrong", "lapsed", "out", "mean", "lower", "upper"),
    *("decided_in", "why", "by_hand", "by_hand_why"),
]
ROUNDED = ("mean", "lower", "upper", "expected")
SEEN, ATTRIBUTE = "last_seen", "attribute:"

Known = dict[int, tuple[datetime | None, dict[str, Any]]]


def selected_table(wanted: ExportContext) -> ExportTable:
    """The workers selected; what is true of the run as a whole is in ``settings``."""
    columns = reports.export_columns(wanted.run)
    rows = reports.selected_rows(wanted.run, wanted.seen)
    return ExportTable(columns, [[row[name] for name in columns] for row in rows], "Selected")


def workers_table(wanted: ExportContext) -> ExportTable:
    """Every worker of the run, with all that is known of each; a line for each kind of task."""
    own, attributes = _column_names(wanted.run), _attribute_names(wanted.run)
    columns = [*own, SEEN, *(ATTRIBUTE + name for name in attributes)]
    rows = (
        [*(_cell_word(_cell_value(line, name)) for name in own), _format_moment(seen)]
        + [_cell_text(known.get(name, "")) for name in attributes]
        for line, seen, known in _lines_with_details(wanted.run, wanted.seen.lines)
    )
    return ExportTable(columns, rows, "All workers")


def workers_rows(wanted: ExportContext) -> Iterator[dict[str, Any]]:
    """The same for programs: attributes are an object of their own."""
    own = _column_names(wanted.run)
    for line, seen, known in _lines_with_details(wanted.run, wanted.seen.lines):
        row = {name: _cell_value(line, name) for name in own}
        yield row | {SEEN: _format_moment(seen) or None, "attributes": known}


def settings_table(wanted: ExportContext) -> ExportTable:
    """What is true of the run as a whole, a line for each thing."""
    facts = reports.run_facts(wanted.run, wanted.seen)
    return ExportTable(["what", "value"], list(_flatten_facts(facts)), "Run")


# -- workers


def _column_names(run: Run) -> list[str]:
    """The further ones are those that the table of the selected has."""
    further = [
        name for name in reports.export_columns(run) if name in ("group", "skill", "expected")
    ]
    elsewhere = ["elsewhere"] if run.several and run.one_kind_each else []
    return [*EVERYBODY, *further, *elsewhere]


def _cell_value(line: WorkerStanding, name: str) -> Any:
    value = getattr(line, name)
    if name in ROUNDED:
        return None if value is None else round(value, 4)
    return round(value) if name == "right" else value


def _cell_word(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _cell_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value, None)


def _format_moment(at: datetime | None) -> str:
    return at.isoformat(" ", "seconds") if at else ""


def _attribute_names(run: Run) -> list[str]:
    """The names that any worker of the run has, in order of their first appearance."""
    rows = run.candidates.filter(skill=0).order_by("worker_id")
    found: dict[str, None] = {}
    for attributes in rows.values_list("worker__attributes", flat=True).iterator(CHUNK):
        found |= dict.fromkeys(attributes)
    return list(found)


def _lines_with_details(
    run: Run, lines: Sequence[WorkerStanding]
) -> Iterator[tuple[WorkerStanding, datetime | None, dict[str, Any]]]:
    """Each line with when its worker was last seen and their attributes, read piece by piece."""
    for start in range(0, len(lines), CHUNK):
        chunk = lines[start : start + CHUNK]
        rows = run.candidates.filter(pk__in=[line.candidate for line in chunk])
        known: Known = {
            pk: (seen, attributes)
            for pk, seen, attributes in rows.values_list("pk", "seen", "worker__attributes")
        }
        for line in chunk:
            yield (line, *known.get(line.candidate, (None, {})))


# -- the run


def _flatten_facts(facts: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flatten_facts(value, f"{before}{name}.")
        elif isinstance(value, list):
            plain = all(isinstance(one, str) for one in value)
            yield before + name, " ".join(value) if plain else json_text(value, None)
        else:
            yield before + name, "" if value is None else _cell_word(value)
