"""Result files: written whole or not at all, in the format of their suffix."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from selection import exports
from selection.errors import Refused


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


def write_csv(path: Path, table: exports.ExportTable) -> None:
    with path.open("wb") as file:
        file.writelines(exports.csv_file(table, mark=""))


def write_json(path: Path, document: Any) -> None:
    path.write_text(exports.json_text(document) + "\n", encoding="utf-8")
