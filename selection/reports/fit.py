"""What the algorithm itself makes of its answers: doubts, and the population it fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count

from selection.models import RecordedAnswer, Run
from selection.models.roster import Roster
from topk import THIS_SET, PopulationSummary, Selector


@dataclass(frozen=True)
class Fit:
    """warnings    sentences on what makes the promise doubtful for this pool; mostly none
    population  as it was fitted; None for algorithms that fit none, and before any answer
    """

    warnings: tuple[str, ...] = ()
    population: PopulationSummary | None = None

    @classmethod
    def of(cls, run: Run, selector: Selector) -> "Fit":
        return cls((*selector.warnings(), *_of_order(run)), selector.fitted())

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
    return Fit.of(run, selector) if selector else Fit()


def _of_order(run: Run) -> tuple[str, ...]:
    """Accuracy on this question set rests on random order, which recorded answers may not have.

    Where everybody answered everything there is nothing to choose.
    """
    if not run.has_recorded or run.options.get("accuracy") != THIS_SET:
        return ()
    waiting = RecordedAnswer.objects.filter(candidate__run=run).order_by()
    left = dict(waiting.values_list("candidate").annotate(count=Count("pk")))
    asked = run.candidates.filter(gone="").order_by().values_list("pk", "asked")
    if all(count + left.get(key, 0) >= run.deck_size for key, count in asked):
        return ()
    return (order_doubt(run.deck_size),)


def order_doubt(questions: int) -> str:
    return (
        f"Answers were made elsewhere, and not by everybody to all {questions} questions. If "
        "workers chose which ones they answered, these are no random part of the set, and the "
        f"promise about accuracy {THIS_SET} does not hold."
    )


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
