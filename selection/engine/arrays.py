"""A run's arrays, as one step of the engine needs them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from selection.models import Answer, Run
from topk import Selector, State

Counts = NDArray[np.int64]


@dataclass
class StepArrays:
    """A run's arrays while a step is made of it. All are (n,), by arm.

    ids, asked, pulls    as stored in Candidate, before this step
    verdict              before this step
    ripe, ripe_arms      ids and arms of the answers that count now
    unripe               answers that are in but wait for an earlier position
    counts               how many assignments to deal
    """

    run: Run
    selector: Selector
    ids: Counts
    workers: Counts
    asked: Counts
    pulls: Counts
    verdict: Counts
    decided_in: dict[int, tuple[int | None, str]]
    ripe: Counts
    ripe_arms: Counts
    ripe_right: Counts
    unripe: Counts
    counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    ending: Run.Ending | None = None

    @property
    def changed(self) -> bool:
        return bool(self.ripe.size or self.counts.any() or self.ending)

    @property
    def skill(self) -> Counts:
        """The skill that each arm is tested in."""
        skills = len(self.run.skills)
        return np.repeat(np.arange(skills), self.ids.size // skills)

    @property
    def decks(self) -> Counts:
        """How many questions each arm's skill has."""
        return np.array([skill.deck_size for skill in self.run.skills])[self.skill]

    @property
    def pending(self) -> Counts:
        """Asked and not yet counted."""
        return self.asked - self.selector.state.pulls

    @property
    def out(self) -> Counts:
        """With the crowd: asked and not yet answered."""
        return self.pending - self.unripe

    @property
    def held(self) -> Counts:
        """With the arm's worker, in all skills."""
        if not self.run.several:
            return self.out
        _, worker = np.unique(self.workers, return_inverse=True)
        return np.bincount(worker, self.out).astype(np.int64)[worker]


def load(run: Run) -> StepArrays:
    rows = run.candidates.order_by("arm").values_list(
        "id", "worker_id", "asked", "pulls", "rewards", "verdict"
    )
    table = np.array(list(rows), np.float64).reshape(-1, 6).T
    ids, workers, asked, pulls, verdict = table[[0, 1, 2, 3, 5]].astype(np.int64)
    state = State(pulls.copy(), table[4].copy(), verdict.astype(np.int8), dict(run.memory))
    decided = run.candidates.exclude(decided_in=None)
    ripe, arms, right, unripe = _answers(run, pulls)
    return StepArrays(
        run=run,
        selector=run.selector(state),
        ids=ids,
        workers=workers,
        asked=asked,
        pulls=pulls,
        verdict=verdict,
        decided_in={
            arm: (step, why)
            for arm, step, why in decided.values_list("arm", "decided_in", "decided_why")
        },
        ripe=ripe,
        ripe_arms=arms,
        ripe_right=right,
        unripe=unripe,
    )


def _answers(run: Run, pulls: Counts) -> tuple[Counts, Counts, Counts, Counts]:
    """The answers not yet counted: ripe ones, and how many per arm are not.

    An answer is ripe when all earlier positions of its worker are closed, so that slow answers,
    right or wrong, count as soon as quick ones.
    """
    rows = Answer.objects.filter(run=run, applied_in=None).values_list(
        "assignment_id",
        "assignment__candidate__arm",
        "assignment__position",
        "right",
    )
    table = np.array(list(rows), np.int64).reshape(-1, 4)
    table = table[np.lexsort((table[:, 2], table[:, 1]))]
    ids, arms, positions, right = table.T
    # (a,) the index of the arm's first answer: the j-th of an arm is ripe when its position is
    # j places behind those that count already, for then none is missing between.
    first = np.searchsorted(arms, arms)
    ripe = positions == pulls[arms] + np.arange(arms.size) - first
    unripe = np.bincount(arms[~ripe], minlength=pulls.size)
    return ids[ripe], arms[ripe], right[ripe], unripe
