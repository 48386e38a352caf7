"""Learning from an earlier run: how good its workers were on the whole, copied once, on request.

A run keeps the copy in its option ``prior``, with the names of where it came from. So it stays
reproducible, and does not mind if the earlier run is deleted.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet, Sum

from selection.errors import Refused
from selection.models import Run
from topk import prior_from_tallies

WORTH = 20
LATEST = 200


@dataclass(frozen=True)
class LearnedPrior:
    """What a run took over from an earlier one; names are empty where they are not known.

    counts_as  how many workers all that is taken over weighs as much as
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
            f"{self.source}{on}: {self.workers} workers with {self.answers} answers, "
            f"counting as {self.counts_as} workers"
        )


@dataclass(frozen=True)
class PriorSource:
    """A run that can be learned from, with the workers who answered in it."""

    pk: int
    name: str
    pool: str
    question_set: str
    workers: int
    answers: int

    def __str__(self) -> str:
        return f"{self.name}: {self.workers} workers of {self.pool}, {self.answers} answers"


def list_sources(runs: QuerySet[Run]) -> list[PriorSource]:
    """Of these runs those that have ended, of one skill, with answers; the latest first."""
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
    return [PriorSource(*row) for row in rows[:LATEST]]


def is_source(run: Run) -> bool:
    """Whether it can be learned from."""
    return _source_runs(Run.objects.filter(pk=run.pk)).exists()


def _source_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.filter(status=Run.Status.ENDED, further=None, candidates__pulls__gt=0)


def copy_prior(pk: int) -> dict[str, Any]:
    """The option ``prior`` made of an earlier run. Raises Refused if it is not there."""
    source = Run.objects.filter(pk=pk).select_related("pool", "question_set").first()
    if source is None:
        raise Refused("The run to learn from does not exist any more; choose another or none.")
    rows = np.array(list(source.candidates.values_list("rewards", "pulls")), float).reshape(-1, 2)
    names = {"run": source.name, "pool": str(source.pool), "question_set": str(source.question_set)}
    return prior_from_tallies(rows[:, 0], rows[:, 1].astype(np.int64), WORTH) | {"source": names}


def learned_prior(run: Run) -> LearnedPrior | None:
    """What this run took over; None if nothing."""
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
    """The same for a file: never the tallies themselves."""
    found = learned_prior(run)
    return None if found is None else asdict(found)


def prior_assumption(run: Run) -> str:
    """What a run that learned rests on besides."""
    found = learned_prior(run)
    if found is None:
        return ""
    return f" It also takes these workers to be, on the whole, like those of {found.source}."


def prior_doubt(run: Run) -> str:
    """Why what was taken over may not fit this run; empty if nothing speaks against it."""
    found = learned_prior(run)
    if found is None or found.question_set in ("", str(run.question_set)):
        return ""
    return (
        f"“{found.run}” asked other questions, of “{found.question_set}”: if these are harder or "
        "easier, what is taken over misleads."
    )
