"""What is measured already: one line of JSON a cell, so that an interrupted measurement goes on."""

import json
from collections.abc import Container, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .measure import Cell, Effort, Run

NAME = "unfinished.jsonl"
Line = dict[str, Any]


class Journal:
    """The cells measured with this effort, in a file, until the table has them."""

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

    def forget(self, done: Container[tuple[str, str]]) -> None:
        """These cells are in the table: the next measurement of them begins anew."""
        kept = [line for line in self._lines() if not (self._mine(line) and _key(line) in done)]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        if not kept:
            self.path.unlink()

    def _read(self) -> Iterator[Cell]:
        return (_cell(line["cell"]) for line in self._lines() if self._mine(line))

    def _mine(self, line: Line) -> bool:
        return bool(line["effort"] == self.effort)

    def _lines(self) -> list[Line]:
        """What is in the file, which loses a last line that was cut off by a kill."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [json.loads(line) for line in whole.splitlines()]


def _key(line: Line) -> tuple[str, str]:
    return line["cell"]["case"], line["cell"]["algorithm"]


def _cell(stored: Line) -> Cell:
    runs = tuple(Run(**run) for run in stored.pop("runs"))
    return Cell(**stored, runs=runs)
