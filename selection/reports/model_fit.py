"""The algorithm's view of its own answers: doubts, and the population it fitted."""

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
from selection.texts import counted
from topk import THIS_SET, PopulationSummary, Selector
from topk.dependence import same_questions
from topk.guarantee import Doubt
from topk.roster import Counts, Flags, drop_no_shows

TALLIES = ("asked", "pulls", "void", "skill", "gone", "rewards", "verdict")
AT_ONCE = 5000  # rows
GROWN, KEPT = 1.1, 256  # growth of the answers before a new test; runs whose result is cached

SAME_QUESTIONS = Doubt(
    "same-questions",
    "Workers are right and wrong on the same questions more often than by chance (false-alarm "
    "rate: at most 1% per check). The guarantee assumes independent answers: with a small set, "
    "accuracy on questions like these may differ more. Accuracy on this question set, which "
    "“certified” can guarantee, does not need the assumption.",
)


@dataclass(frozen=True)
class ModelFit:
    """Fit of the algorithm's model to the answers.

    warnings    sentences on doubts about the guarantee for this pool; mostly none
    population  as fitted; None for algorithms that fit none, and before any answer
    """

    warnings: tuple[Doubt, ...] = ()
    population: PopulationSummary | None = None

    @classmethod
    def assess(cls, run: Run, selector: Selector) -> "ModelFit":
        doubts = (SAME_QUESTIONS,) if is_dependent(run, selector) else ()
        return cls((*selector.warnings(), *_order_warnings(run), *doubts), selector.fitted())

    def numbers(self) -> dict[str, Any] | None:
        fitted = self.population
        if fitted is None:
            return None
        names = ("mean", "spread", "border", "p_value")
        return {name: round(getattr(fitted, name), 4) for name in names}


def model_fit(run: Run) -> ModelFit:
    """Assess the fit without the bounds of each worker, which may take longer than all the rest."""
    rows = list(run.candidates.order_by("arm").values_list(*TALLIES, named=True))
    return assess_fit(run, rows, restore_selector(run, rows)[1])


def assess_fit(run: Run, rows: list[Any], selector: Selector | None) -> ModelFit:
    """Assess the fit of the selector; at the end, without no-shows."""
    if run.finished and run.selector_class.guarantee.average:
        selector = restore_selector(run, rows, of_participants=True)[1]
    return ModelFit.assess(run, selector) if selector else ModelFit()


def _order_warnings(run: Run) -> tuple[Doubt, ...]:
    """Warn if recorded answers may not be in random order.

    The accuracy on this question set assumes random order. If everybody answered everything there
    is nothing to choose.
    """
    if not run.has_recorded or run.options.get("accuracy") != THIS_SET:
        return ()
    waiting = RecordedAnswer.objects.filter(candidate__run=run).order_by()
    unused = dict(waiting.values_list("candidate").annotate(count=Count("pk")))
    pairs = run.candidates.filter(gone="").order_by().values_list("pk", "asked")
    if all(count + unused.get(key, 0) >= run.deck_size for key, count in pairs):
        return ()
    return (order_doubt(run.deck_size),)


def order_doubt(questions: int) -> Doubt:
    return Doubt(
        "chosen-questions",
        f"The imported answers do not cover all {counted(questions, 'question')} for every "
        "worker. If "
        "workers chose their questions, these are not a random sample of the set, and the "
        f"guarantee about accuracy {THIS_SET} is not valid.",
    )


def is_dependent(run: Run, selector: Selector) -> bool:
    """Tell if workers' answers depend on each other and the guarantee excludes it.

    Recomputed after a tenth more answers, and at the end: it reads all answers.
    """
    answers = int(selector.state.pulls.sum())
    if not answers or selector.common_order or selector.options.get("accuracy") == THIS_SET:
        return False
    running = run.status == Run.Status.RUNNING
    final_key = (answers, float(selector.state.rewards.sum()), run.ended)
    return _is_dependent_cached(
        run.pk, run.created, int(log(answers, GROWN)) if running else final_key
    )


@lru_cache(KEPT)
def _is_dependent_cached(run_id: int, created: datetime, progress: Hashable) -> bool:
    """Cache the result of the test.

    created, progress  identify the run behind this id, and its state: they are part of the cache
                       key
    """
    answers = Answer.objects.filter(run=run_id, applied_in__isnull=False, void=False)
    columns = ("assignment__candidate__arm", "assignment__question", "right")
    # An answer that never came says nothing about its question. Rows are streamed: there may be a
    # million.
    rows = answers.filter(expired=False).values_list(*columns).iterator(AT_ONCE)
    table = np.fromiter(rows, np.dtype((np.int64, 3)))
    if not table.size:
        return False
    arms, questions, correct = table.T
    return same_questions(arms, np.unique(questions, return_inverse=True)[1], correct)


def restore_selector(
    run: Run, rows: list[Any], of_participants: bool | None = None
) -> tuple[Roster, Selector | None]:
    """Restore the roster and the algorithm, None with too few workers to choose from.

    rows             the candidates in order of their arms, with their TALLIES
    of_participants  leave out workers without a counted answer; None: if the run ended early
    """
    pulls = np.array([row.pulls for row in rows], np.int64)
    skill = np.array([row.skill for row in rows], np.int64)
    leavers = np.array([bool(row.gone) for row in rows], bool)
    early = run.status == Run.Status.ENDED and not run.finished
    answer_counts = pulls
    if (early if of_participants is None else of_participants) and not run.keep_no_shows:
        leavers, answer_counts = _drop_no_shows(run, leavers, pulls)
    roster = Roster.build(run, skill, leavers, answer_counts)
    rewards = np.array([row.rewards for row in rows], float)
    verdict = np.array([row.verdict for row in rows], np.int8)
    out = np.array([row.asked - row.void for row in rows], np.int64) - pulls
    state = roster.state(pulls, rewards, verdict, run.memory, out)
    return roster, roster.selector(run, state) if roster.ready(run) else None


def _drop_no_shows(run: Run, gone: Flags, pulls: Counts) -> tuple[Flags, Counts]:
    workers = np.arange(gone.size)
    if run.several:
        ids = run.candidates.order_by("arm").values_list("worker_id", flat=True)
        workers = np.array(list(ids), np.int64)
    rule = [skill.k for skill in run.skills], run.one_kind_each, run.judges_anew
    return drop_no_shows(run.selector_class, gone, pulls, workers, *rule)
