"""Workers and settings of a run as tables, for people and their programs."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from selection import reports
from selection.models import Run
from selection.reports import WorkerStanding, worker_columns

from .context import ExportContext
from .writing import ExportTable, format_time, json_text

CHUNK = 2000
SEEN, ATTRIBUTE = "last_seen", "attribute:"

Known = dict[int, tuple[datetime | None, dict[str, Any]]]


def selected_table(context: ExportContext) -> ExportTable:
    """List the selected workers; ``settings_table`` has the facts of the run as a whole."""
    columns = worker_columns.selected_columns(context.run)
    rows = reports.selected_rows(context.run, context.standings)
    return ExportTable(columns, [[row[name] for name in columns] for row in rows], "Selected")


def workers_table(context: ExportContext) -> ExportTable:
    names, attributes = worker_columns.all_columns(context.run), _attribute_names(context.run)
    columns = [*names, SEEN, *(ATTRIBUTE + name for name in attributes)]
    rows = (
        [
            *(_cell_word(worker_columns.cell_value(line, name)) for name in names),
            format_time(last_seen),
        ]
        + [
            value if isinstance(value := values.get(name, ""), str) else json_text(value, None)
            for name in attributes
        ]
        for line, last_seen, values in _lines_with_details(context.run, context.standings.lines)
    )
    return ExportTable(columns, rows, "All workers")


def workers_rows(context: ExportContext) -> Iterator[dict[str, Any]]:
    """Yield the same for programs: attributes are an object of their own."""
    names = worker_columns.all_columns(context.run)
    for line, last_seen, attributes in _lines_with_details(context.run, context.standings.lines):
        row = {name: worker_columns.cell_value(line, name) for name in names}
        yield row | {SEEN: format_time(last_seen) or None, "attributes": attributes}


def settings_table(context: ExportContext) -> ExportTable:
    facts = reports.run_facts(context.run, context.standings)
    return ExportTable(["what", "value"], list(_flatten_facts(facts)), "Run")


# -- workers


def _cell_word(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _attribute_names(run: Run) -> list[str]:
    rows = run.candidates.filter(skill=0).order_by("worker_id")
    names: dict[str, None] = {}
    for attributes in rows.values_list("worker__attributes", flat=True).iterator(CHUNK):
        names |= dict.fromkeys(attributes)
    return list(names)


def _lines_with_details(
    run: Run, lines: Sequence[WorkerStanding]
) -> Iterator[tuple[WorkerStanding, datetime | None, dict[str, Any]]]:
    for start in range(0, len(lines), CHUNK):
        chunk = lines[start : start + CHUNK]
        rows = run.candidates.filter(pk__in=[line.candidate for line in chunk])
        details: Known = {
            pk: (last_seen, attributes)
            for pk, last_seen, attributes in rows.values_list("pk", "seen", "worker__attributes")
        }
        for line in chunk:
            yield (line, *details.get(line.candidate, (None, {})))


# -- the run


def _flatten_facts(facts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flatten_facts(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            plain = all(isinstance(item, str) for item in value)
            yield prefix + name, " ".join(value) if plain else json_text(value, None)
        else:
            yield prefix + name, "" if value is None else _cell_word(value)
