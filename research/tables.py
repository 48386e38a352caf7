"""Tables of results, in CSV and Markdown."""

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# A row: a flat dataclass of int, float and str.
R = TypeVar("R", bound="DataclassInstance")
R_co = TypeVar("R_co", bound="DataclassInstance", covariant=True)


def read_table(path: Path, kind: type[R]) -> list[R]:
    """Return the valid rows of a table; none if the file does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            row for line in csv.DictReader(file) if (row := _parse_line(line, kind)) is not None
        ]


def _parse_line(line: dict[str, Any], kind: type[R]) -> R | None:
    try:
        return kind(**{field.name: field.type(line[field.name]) for field in fields(kind)})  # type: ignore[operator]
    except (KeyError, TypeError, ValueError):
        return None


def keep_rows(path: Path, rows: Iterable[R], kind: type[R], ends: str = "\n") -> list[R]:
    """Write these rows; return them as they are read again, rounded."""
    columns = [field.name for field in fields(kind)]
    write_table(path, columns, (map(_round_value, asdict(row).values()) for row in rows), ends)
    return read_table(path, kind)


def write_table(
    path: Path, columns: Sequence[str], lines: Iterable[Iterable[object]], ends: str = "\n"
) -> None:
    """Write the whole table or nothing; ``ends`` ends each line."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator=ends).writerows([columns, *lines])
    draft.replace(path)


def _round_value(value: object) -> object:
    """Round a float to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else value


def markdown_line(cells: Iterable[object]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |\n"
