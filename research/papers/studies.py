"""The papers that can be reproduced, and the whole way from playing to tables and plots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import adaptive_top_k, lil_rand_lucb, plots, report, running, sar
from .cells import Cell
from .claims import Claim
from .table import Row


@dataclass(frozen=True)
class Study:
    title: str
    cells: Callable[[bool, int | None], list[Cell]]
    claims: Callable[[Sequence[Row]], list[Claim]]
    figures: Callable[[Sequence[Row]], list[plots.Figure]]


STUDIES = {
    "sar": Study("Bubeck, Wang, Viswanathan 2013", sar.cells, sar.claims, sar.figures),
    "adaptive-top-k": Study(
        "Chen, Chen, Zhang, Zhou 2017",
        adaptive_top_k.cells,
        adaptive_top_k.claims,
        adaptive_top_k.figures,
    ),
    "lil-rand-lucb": Study(
        "Jiang, Li, Qiao 2017",
        lil_rand_lucb.cells,
        lil_rand_lucb.claims,
        lil_rand_lucb.figures,
    ),
}


@dataclass(frozen=True)
class Plan:
    """quick  fewer points and plays, in files of their own
    runs   plays of each cell; None for the study's own number
    """

    study: str
    out: Path
    quick: bool = False
    runs: int | None = None
    processes: int = 1

    @property
    def stem(self) -> Path:
        return self.out / (f"{self.study}-quick" if self.quick else self.study)


@dataclass(frozen=True)
class Result:
    files: list[Path]
    summary: list[str]


def size(plan: Plan) -> int:
    """How many cells there are to play, or to find played."""
    return len(_cells(plan))


def reproduce(plan: Plan, told: Callable[[int], object]) -> Result:
    """Play what is missing, then write the table, the plots and the verdicts anew."""
    plan.out.mkdir(parents=True, exist_ok=True)
    study, table = STUDIES[plan.study], plan.stem.with_suffix(".csv")
    rows = running.run(_cells(plan), table, plan.processes, told)
    claims = study.claims(rows)
    files = [table, *report.write(plan.stem, study.title, claims)]
    for figure in study.figures(rows):
        files += plots.draw(figure, plan.stem)
    return Result(files, report.summary(claims))


def _cells(plan: Plan) -> list[Cell]:
    return STUDIES[plan.study].cells(plan.quick, plan.runs)
