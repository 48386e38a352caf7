"""Learning from an earlier run: the overall quality of its workers, copied once, on request.

A run keeps the copy in its option ``prior``, with the names of its source. It stays reproducible
even if the earlier run is deleted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet, Sum

from selection.errors import Refused
from selection.models import Run
from selection.texts import counted
from topk import prior_from_tallies

MOST_WEIGHT = 20
MOST_SOURCES = 200


@dataclass(frozen=True)
class LearnedPrior:
    """The prior that a run copied from an earlier one; names are empty if unknown.

    counts_as  the number of workers that the whole prior weighs as much as
    """

    run: str
    pool: str
    question_set: str
    workers: int
    answers: int
    counts_as: int

    @property
    def source(self) -> str:
        return f"“{self.run}”" if self.run else "tallies given by hand"

    def __str__(self) -> str:
        on = f" on “{self.question_set}”" if self.question_set else ""
        return (
            f"{self.source}{on}: {counted(self.workers, 'worker')} with "
            f"{counted(self.answers, 'answer')}, "
            f"counting as {counted(self.counts_as, 'worker')}"
        )


@dataclass(frozen=True)
class PriorSource:
    """A run that can be learned from, with the number of its workers with answers."""

    pk: int
    name: str
    pool: str
    question_set: str
    workers: int
    answers: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {counted(self.workers, 'worker')} of {self.pool}, "
            f"{counted(self.answers, 'answer')}"
        )


def list_sources(runs: QuerySet[Run]) -> list[PriorSource]:
    """List the runs with one skill and answers that have ended, latest first."""
    rows = (
        _source_runs(runs)
        .order_by("-id")
        .values_list(
            "pk",
            "name",
            "pool__name",
            "question_set__name",
            Count("candidates"),
            Sum("candidates__pulls"),
        )
    )
    return [PriorSource(*row) for row in rows[:MOST_SOURCES]]


def is_source(run: Run) -> bool:
    return _source_runs(Run.objects.filter(pk=run.pk)).exists()


def _source_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.filter(status=Run.Status.ENDED, further=None, candidates__pulls__gt=0)


def copy_prior(pk: int) -> dict[str, Any]:
    """Make the option ``prior`` of an earlier run. Raises Refused if the run is gone."""
    source = Run.objects.filter(pk=pk).select_related("pool", "question_set").first()
    if source is None:
        raise Refused("The earlier run does not exist any more; choose another one.")
    rows = np.array(list(source.candidates.values_list("rewards", "pulls")), float).reshape(-1, 2)
    names = {"run": source.name, "pool": str(source.pool), "question_set": str(source.question_set)}
    return build_prior(rows[:, 0].tolist(), rows[:, 1].astype(int).tolist(), names)


def build_prior(
    right: Sequence[float], answers: Sequence[int], source: Mapping[str, str]
) -> dict[str, Any]:
    """Make the option ``prior`` of each worker's right answers and all of their answers.

    source  names of the run, the pool and the question set
    """
    tallies = prior_from_tallies(np.array(right, float), np.array(answers, np.int64), MOST_WEIGHT)
    return tallies | {"source": dict(source)}


def learned_prior(run: Run) -> LearnedPrior | None:
    """Read the prior that this run copied, or None."""
    prior = run.options.get("prior")
    if not prior:
        return None
    names = prior.get("source", {})
    _, answers, workers = np.array(prior["tallies"], float).reshape(-1, 3).T
    return LearnedPrior(
        run=names.get("run", ""),
        pool=names.get("pool", ""),
        question_set=names.get("question_set", ""),
        workers=int(workers.sum()),
        answers=int(answers @ workers),
        counts_as=int(min(prior["worth"], workers.sum())),
    )


def prior_numbers(run: Run) -> dict[str, Any] | None:
    """Describe the learned prior for a file, without the tallies themselves, or None."""
    prior = learned_prior(run)
    return None if prior is None else asdict(prior)


def prior_assumption(run: Run) -> str:
    """State the extra assumption of a run that learned, as a sentence; else empty."""
    prior = learned_prior(run)
    if prior is None:
        return ""
    return f" It also assumes that these workers are similar to the workers of {prior.source}."


def prior_doubt(run: Run) -> str:
    """Find the reason that the prior may not fit this run; empty if there is none."""
    prior = learned_prior(run)
    if prior is None or prior.question_set in ("", str(run.question_set)):
        return ""
    return (
        f"“{prior.run}” asked other questions, of “{prior.question_set}”. If their difficulty "
        "differs, the starting point misleads."
    )
