"""The table of results: one row for each point of a plot, as it stands in the CSV."""

import csv
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """What ``runs`` plays of one algorithm on one instance came to.

    budget      -1 where the algorithm stops of itself
    unfinished  plays that were given up at a cap; they count as failures too
    failures    plays that named a set worse than the tolerance allows
    error       failures / runs, with its exact (Clopper-Pearson) 99 % interval
    pulls       mean number of the plays that ended, standard error, 99 % interval (Student's t)
    seed        play r has the seed (seed << 20) + r
    """

    experiment: str
    series: str
    algorithm: str
    options: str
    n: int
    k: int
    budget: int
    runs: int
    failures: int
    unfinished: int
    error: float
    error_low: float
    error_high: float
    pulls: float
    pulls_se: float
    pulls_low: float
    pulls_high: float
    seed: int

    @property
    def place(self) -> tuple[str, int, int, int]:
        """What rows that may be compared have in common."""
        return self.experiment, self.n, self.k, self.budget


COLUMNS = [field.name for field in fields(Row)]
_TYPES = {field.name: field.type for field in fields(Row)}


def read(path: Path) -> list[Row]:
    """The rows of a table; a line that was torn when its writer was killed is left out."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row for line in csv.DictReader(file) if (row := _parsed(line)) is not None]


def _parsed(line: dict[str, str | None]) -> Row | None:
    try:
        return Row(**{name: _TYPES[name](line[name]) for name in COLUMNS})  # type: ignore
    except (KeyError, TypeError, ValueError):
        return None


def write(path: Path, rows: Iterable[Row]) -> None:
    """The whole table or nothing."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(_line(row) for row in rows)
    draft.replace(path)


def append(path: Path, rows: Iterable[Row]) -> None:
    """Add rows that are on the disk when this returns."""
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, COLUMNS).writerows(_line(row) for row in rows)
        file.flush()
        os.fsync(file.fileno())


def _line(row: Row) -> dict[str, object]:
    return {
        name: f"{value:.6g}" if isinstance(value, float) else value
        for name, value in asdict(row).items()
    }
