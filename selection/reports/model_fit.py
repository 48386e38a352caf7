"""What the algorithm itself makes of its answers: doubts, and the population it fitted."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from django.db.models import Count

from selection.models import Answer, RecordedAnswer, Run
from selection.models.roster import Roster
from topk import THIS_SET, PopulationSummary, Selector
from topk.dependence import same_questions

TALLIES = ("asked", "pulls", "void", "skill", "gone", "rewards", "verdict")
AT_ONCE = 5000  # rows
GROWN, KEPT = 1.1, 256  # by so much more answers it is looked at again; for so many runs kept

SAME_QUESTIONS = (
    "Workers are right and wrong on the same questions, more than chance has it (one look says so "
    "without a reason at most once in a hundred). The promise takes them to be independent: "
    "where the set is small, accuracy on questions like these may differ by more than it says. "
    "Accuracy on this question set, which “certified” can promise about, does not rest on that."
)


@dataclass(frozen=True)
class ModelFit:
    """warnings    sentences on what makes the promise doubtful for this pool; mostly none
    population  as it was fitted; None for algorithms that fit none, and before any answer
    """

    warnings: tuple[str, ...] = ()
    population: PopulationSummary | None = None

    @classmethod
    def of(cls, run: Run, selector: Selector) -> "ModelFit":
        doubts = (SAME_QUESTIONS,) if is_dependent(run, selector) else ()
        return cls((*selector.warnings(), *_order_warnings(run), *doubts), selector.fitted())

    def numbers(self) -> dict[str, Any] | None:
        """The population for a file."""
        found = self.population
        if found is None:
            return None
        names = ("mean", "spread", "border", "p_value")
        return {name: round(getattr(found, name), 4) for name in names}


def model_fit(run: Run) -> ModelFit:
    """Without the bounds of each worker, which may take longer than all the rest."""
    rows = list(run.candidates.order_by("arm").values_list(*TALLIES, named=True))
    _, selector = restore_selector(run, rows)
    return ModelFit.of(run, selector) if selector else ModelFit()


def _order_warnings(run: Run) -> tuple[str, ...]:
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


def is_dependent(run: Run, selector: Selector) -> bool:
    """Whether the answers counted show workers to be so, where the promise rests on that.

    Looked at anew when there are a tenth more of them, and at the end: it reads them all.
    """
    answers = int(selector.state.pulls.sum())
    if not answers or selector.options.get("accuracy") == THIS_SET:
        return False
    going = run.status == Run.Status.RUNNING
    exactly = (answers, float(selector.state.rewards.sum()), run.ended)
    return _is_dependent_cached(run.pk, run.created, int(log(answers, GROWN)) if going else exactly)


@lru_cache(KEPT)
def _is_dependent_cached(run_id: int, created: datetime, far: Hashable) -> bool:
    """created, far  which run of this id, and how far it is: they tell what is kept from another"""
    counted = Answer.objects.filter(run=run_id, applied_in__isnull=False, void=False)
    columns = ("assignment__candidate__arm", "assignment__question", "right")
    # An answer that never came says nothing about its question. No object is kept of any: there
    # may be a million.
    rows = counted.filter(expired=False).values_list(*columns).iterator(AT_ONCE)
    table = np.fromiter(rows, np.dtype((np.int64, 3)))
    if not table.size:
        return False
    arms, questions, right = table.T
    return same_questions(arms, np.unique(questions, return_inverse=True)[1], right)


def restore_selector(run: Run, rows: list[Any]) -> tuple[Roster, Selector | None]:
    """Who is chosen from, and the algorithm as it stands; none with too few to choose from.

    rows  the candidates in order of their arms, with their TALLIES
    """
    pulls = np.array([row.pulls for row in rows], np.int64)
    skill = np.array([row.skill for row in rows], np.int64)
    gone = np.array([bool(row.gone) for row in rows], bool)
    roster = Roster.build(run, skill, gone, pulls)
    rewards = np.array([row.rewards for row in rows], float)
    verdict = np.array([row.verdict for row in rows], np.int8)
    out = np.array([row.asked - row.void for row in rows], np.int64) - pulls
    state = roster.state(pulls, rewards, verdict, run.memory, out)
    return roster, roster.selector(run, state) if roster.ready(run) else None
