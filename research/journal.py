"""Finished cells of an interrupted study: one line of JSON per cell."""

import json
import os
from collections.abc import Container, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic

from .tables import R

Line = dict[str, Any]


class Journal(Generic[R]):
    """Rows of finished cells by the cell's key, in a file."""

    def __init__(self, path: Path, row: type[R]) -> None:
        self.path = path
        self.kept = {
            line["key"]: [row(**each) for each in line["rows"]] for line in self._read_lines()
        }

    def add(self, key: str, rows: Sequence[R]) -> None:
        """Write a cell to disk, before returning."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line_text({"key": key, "rows": [asdict(row) for row in rows]}))
            file.flush()
            os.fsync(file.fileno())

    def forget(self, done: Container[str]) -> None:
        """Delete these cells, and the file if no other study has cells in it."""
        rest = [line for line in self._read_lines() if line["key"] not in done]
        self.path.write_text("".join(map(_line_text, rest)), encoding="utf-8")
        if not rest:
            self.path.unlink()

    def _read_lines(self) -> list[Line]:
        """Return the lines of the file; delete a last line that is incomplete."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [line for line in map(json.loads, whole.splitlines()) if "key" in line]


def _line_text(line: Line) -> str:
    return json.dumps(line) + "\n"
