"""What the algorithm itself makes of its answers: doubts, and the population it fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from selection.models import Run
from selection.models.roster import Roster
from topk import PopulationSummary, Selector


@dataclass(frozen=True)
class Fit:
    """warnings    sentences on what makes the promise doubtful for this pool; mostly none
    population  as it was fitted; None for algorithms that fit none, and before any answer
    """

    warnings: tuple[str, ...] = ()
    population: PopulationSummary | None = None

    @classmethod
    def of(cls, selector: Selector) -> "Fit":
        return cls(selector.warnings(), selector.fitted())

    def numbers(self) -> dict[str, Any] | None:
        """The population for a file."""
        found = self.population
        if found is None:
            return None
        names = ("mean", "spread", "border", "p_value")
        return {name: round(getattr(found, name), 4) for name in names}


def fit(run: Run) -> Fit:
    """Without the bounds of each worker, which may take longer than all the rest."""
    columns = ("pulls", "skill", "gone", "rewards", "verdict")
    rows = list(run.candidates.order_by("arm").values_list(*columns, named=True))
    _, selector = restored(run, rows)
    return Fit.of(selector) if selector else Fit()


def restored(run: Run, rows: list[Any]) -> tuple[Roster, Selector | None]:
    """Who is chosen from, and the algorithm as it stands; none with too few to choose from.

    rows  the candidates in order of their arms, with what Candidate has by these names
    """
    pulls = np.array([row.pulls for row in rows], np.int64)
    skill = np.array([row.skill for row in rows], np.int64)
    gone = np.array([bool(row.gone) for row in rows], bool)
    roster = Roster.of(run, skill, gone, pulls)
    rewards = np.array([row.rewards for row in rows], float)
    verdict = np.array([row.verdict for row in rows], np.int8)
    state = roster.state(pulls, rewards, verdict, run.memory)
    return roster, roster.selector(run, state) if roster.ready(run) else None
