"""Result files: written whole or not at all, in the format of their suffix."""

import csv
import json
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from selection.errors import Refused
from selection.imports import row_parsers


def check_out(out: Path, endings: Collection[str]) -> None:
    """Raise Refused for a file that cannot be written, before any work is done."""
    if out.suffix.lower() not in endings:
        raise Refused(f"{out} must end in {' or '.join(endings)}; the ending tells the format.")
    if out.exists() and not out.is_file():
        raise Refused(f"{out} is there already and is not a file.")
    if not out.parent.is_dir():
        raise Refused(f"{out} cannot be written: there is no folder {out.parent}.")
    if not os.access(out.parent, os.W_OK):
        raise Refused(f"{out} cannot be written: the folder {out.parent} is read-only.")


def write_whole(out: Path, write: Callable[[Path], object]) -> None:
    """Write to a temporary file with the same suffix first, then rename it."""
    target = out.resolve()
    draft = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        write(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {column: row_parsers.defuse_formula(cell) for column, cell in row.items()}
            for row in rows
        )


def write_json(path: Path, document: Any) -> None:
    path.write_text(json_of(document) + "\n", encoding="utf-8")


def json_of(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)
