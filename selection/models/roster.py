"""The roster of a run: its active workers, as the algorithm numbers them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topk import Memory, Selector, State, build_selector, expand_memory
from topk.roster import (
    active_arms,
    has_enough,
    plan_options,
    restrict_options,
    share_left,
)

from .runs import Run

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Roster:
    """The arms that an algorithm is run on: all of a run except those of workers that left.

    The algorithm numbers them anew, 0 to r - 1: skill by skill, and within a skill in an order that
    is independent of the order of joining.

    arms    (r,) the run's numbers of these arms
    n       arms of the run in all
    people  (r,) the worker of each, by a number; 0 if that does not matter
    share   of δ that is left to them. Workers that left after giving answers may have left because
            of them; with δ shared evenly among all tested workers, every single bound is unchanged,
            so that the reason for leaving does not matter (absence.md of topk)
    """

    arms: Counts
    n: int
    share: float
    people: Counts

    @classmethod
    def build(cls, run: Run, skill: Counts, gone: NDArray[np.bool_], pulls: Counts) -> "Roster":
        """Build the roster of the active workers; skill, gone and pulls are (n,), by arm."""
        arms = active_arms(skill, gone, run.seed, bool(run.joined))
        people = _worker_of_arms(run, gone.size)[arms]
        return cls(arms, gone.size, share_left(gone, pulls), people)

    def enough(self, run: Run) -> bool:
        """Tell if every skill has more workers to choose from than its K."""
        ks = [skill.k for skill in run.skills]
        return has_enough(self.arms.size // len(ks), ks, run.one_kind_each)

    def ready(self, run: Run) -> bool:
        """Tell if the algorithm can work on them now.

        While others may still join, one that works in rounds waits for all of them.
        """
        waits = run.enrolling and not run.selector_class.open_roster
        return self.enough(run) and not waits

    def selector(self, run: Run, state: State) -> Selector:
        """Build the algorithm on these arms. Raises ProblemError if it cannot be run on them."""
        workers = self.arms.size // len(run.skills)
        options = restrict_options(run.effective_options(), self.arms, run.k)
        options |= run.kind_quota_option(np.unique(self.people, return_inverse=True)[1])
        options |= plan_options(run.selector_class, self.n, self.arms.size)
        return build_selector(run.algorithm, run.problem(workers, self.share), state, **options)

    def state(
        self, pulls: Counts, rewards: Any, verdict: Any, memory: Memory, out: Any = None
    ) -> State:
        """Build the state of these arms from (n,) columns by arm.

        out  answers asked and not counted yet; those of workers who left count at their worst
        """
        out = np.zeros(self.n, np.int64) if out is None else np.asarray(out, np.int64)
        participants = (pulls > 0) | (out > 0)
        participants[self.arms] = False
        return State(
            pulls[self.arms].astype(np.int64),
            np.asarray(rewards[self.arms], float),
            verdict[self.arms].astype(np.int8),
            expand_memory(memory),
            out[self.arms],
            np.array([rewards[participants], pulls[participants], out[participants]], float),
        )

    def spread(self, values: Any, rest: Any) -> NDArray[Any]:
        """Spread (r,) values of these over (n,) the run's arms; ``rest`` for the others."""
        spread = np.full(self.n, rest, dtype=np.asarray(values).dtype)
        spread[self.arms] = values
        return spread

    def places(self, arms: Counts) -> Counts:
        """Find the algorithm's numbers of these arms of the run; -1 for workers that left."""
        return self.spread(np.arange(self.arms.size), -1)[arms]


def _worker_of_arms(run: Run, n: int) -> Counts:
    """Read (n,) the worker of each arm, only if a worker may have several arms."""
    if not (run.several and run.one_kind_each):
        return np.zeros(n, np.int64)
    return np.array(run.candidates.order_by("arm").values_list("worker_id", flat=True), np.int64)
