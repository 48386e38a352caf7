"""What the algorithm itself makes of its answers: doubts, and the population it fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from selection.models import Candidate, Run
from topk import PopulationSummary, Selector, State


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
    rows = list(run.candidates.order_by("arm"))
    return Fit.of(restored(run, rows)) if rows else Fit()


def restored(run: Run, rows: list[Candidate]) -> Selector:
    """The algorithm as it stands, from the candidates in order of their arms."""
    state = State(
        np.array([row.pulls for row in rows], np.int64),
        np.array([row.rewards for row in rows], float),
        np.array([row.verdict for row in rows], np.int8),
        dict(run.memory),
    )
    return run.selector(state)
