"""A watch as files: its workers and its gold answers."""

from collections.abc import Iterator
from typing import Any

from django.utils.text import slugify

from selection.models import Watch
from selection.watches import overview

from .formats import File
from .writing import COMMA, CsvStyle, ExportTable, csv_file, json_file

CHUNK = 2000


def watch_file(watch: Watch, name: str, style: CsvStyle = COMMA) -> File:
    """Return the file of this name: workers, gold or json."""
    base = slugify(watch.name) or "watch"
    if name == "json":
        facts = overview.watch_settings(watch) | {"workers": list(_worker_rows(watch))}
        pieces = json_file(facts, "gold", _gold_rows(watch))
        return File(f"{base}.json", "application/json", pieces)
    rows, columns = _TABLES[name](watch), _COLUMNS[name]
    cells = ([row[column] for column in columns] for row in rows)
    pieces = csv_file(ExportTable(columns, cells), style=style)
    return File(f"{base}-{name}.csv", "text/csv; charset=utf-8", pieces)


def _worker_rows(watch: Watch) -> Iterator[dict[str, Any]]:
    rows = watch.workers.select_related("worker").order_by("pk")
    return (overview.column_values(row, overview.WORKER_COLUMNS) for row in rows.iterator(CHUNK))


def _gold_rows(watch: Watch) -> Iterator[dict[str, Any]]:
    rows = overview.gold_answers(watch).order_by("asked", "pk")
    return (overview.column_values(row, overview.GOLD_COLUMNS) for row in rows.iterator(CHUNK))


_TABLES = {"workers": _worker_rows, "gold": _gold_rows}
_COLUMNS = {"workers": list(overview.WORKER_COLUMNS), "gold": list(overview.GOLD_COLUMNS)}
WATCH_FILES = (*_TABLES, "json")
