"""What is played already: one line of JSON a cell, so that an interrupted study goes on."""

import json
import os
from collections.abc import Container, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic

from .tables import R

Line = dict[str, Any]


class Journal(Generic[R]):
    """The rows of finished cells by the cell's key, in a file, until the table has them."""

    def __init__(self, path: Path, row: type[R]) -> None:
        self.path = path
        self.kept = {
            line["key"]: [row(**each) for each in line["rows"]] for line in self._read_lines()
        }

    def add(self, key: str, rows: Sequence[R]) -> None:
        """Keep a cell: it is on the disk when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line_text({"key": key, "rows": [asdict(row) for row in rows]}))
            file.flush()
            os.fsync(file.fileno())

    def forget(self, done: Container[str]) -> None:
        """Remove these cells: they are in the table. Keep those of other studies."""
        kept = [line for line in self._read_lines() if line["key"] not in done]
        self.path.write_text("".join(map(_line_text, kept)), encoding="utf-8")
        if not kept:
            self.path.unlink()

    def _read_lines(self) -> list[Line]:
        """Return what is in the file; a last line that was cut off by a kill is dropped."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [line for line in map(json.loads, whole.splitlines()) if "key" in line]


def _line_text(line: Line) -> str:
    return json.dumps(line) + "\n"
