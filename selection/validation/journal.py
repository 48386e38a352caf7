"""What is measured already: one line of JSON a cell, so that an interrupted measurement goes on."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .measure import Cell, Effort, Run

NAME = "unfinished.jsonl"


class Journal:
    """The cells measured with this effort, in a file that goes when all are."""

    def __init__(self, folder: Path, effort: Effort) -> None:
        self.path = folder / NAME
        self.effort = asdict(effort)
        self.cells = {(cell.case, cell.algorithm): cell for cell in self._read()}

    def get(self, case: str, algorithm: str) -> Cell | None:
        return self.cells.get((case, algorithm))

    def add(self, cell: Cell) -> None:
        """Keep a cell at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"effort": self.effort, "cell": asdict(cell)}) + "\n")

    def close(self) -> None:
        """All is measured and written: the next measurement begins anew."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> Iterator[Cell]:
        """Cells of the same effort; a line cut off by a kill does not count."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        lines = map(json.loads, whole.splitlines())
        return (_cell(line["cell"]) for line in lines if line["effort"] == self.effort)


def _cell(stored: dict[str, Any]) -> Cell:
    runs = tuple(Run(**run) for run in stored.pop("runs"))
    return Cell(**stored, runs=runs)
