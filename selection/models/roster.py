"""Who of a run's workers is to be chosen from, as the algorithm knows them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topk import Memory, Selector, State, build, expand
from topk.roster import among, enough, here, share_left

from .runs import Run

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Roster:
    """The arms that an algorithm is run on: all of a run but those of workers who are gone.

    The algorithm numbers them anew, 0 to r - 1: skill by skill, and within a skill in an order that
    has nothing to do with when they came.

    arms    (r,) the run's numbers of these arms
    n       arms of the run in all
    people  (r,) who each of them is, by a number; 0 where that does not matter
    share   of δ that is left to them. Who left after giving answers may have left because of them;
           with δ shared evenly among all who were tested, every single bound is as it was, so that
           it does not matter why they left (docs/absence.md)
    """

    arms: Counts
    n: int
    share: float
    people: Counts

    @classmethod
    def of(cls, run: Run, skill: Counts, gone: NDArray[np.bool_], pulls: Counts) -> "Roster":
        """skill, gone, pulls are (n,), by arm."""
        arms = here(skill, gone, run.seed, bool(run.joined))
        return cls(arms, gone.size, share_left(gone, pulls), _people(run, gone.size)[arms])

    def enough(self, run: Run) -> bool:
        """Whether there are more to choose from than are wanted, in every skill."""
        ks = [skill.k for skill in run.skills]
        return enough(self.arms.size // len(ks), ks, run.one_kind_each)

    def ready(self, run: Run) -> bool:
        """Whether the algorithm can work on them by now.

        While others may still join, one that works in rounds waits for all of them.
        """
        waits = run.enrolling and not run.selector_class.open_roster
        return self.enough(run) and not waits

    def selector(self, run: Run, state: State) -> Selector:
        """The algorithm on these arms. Raises ProblemError where it cannot be run on them."""
        workers = self.arms.size // len(run.skills)
        options = run.all_options()
        if "quotas" in options:
            options["quotas"] = among(options["quotas"], self.arms, run.k)
        options |= run.of_each_kind(np.unique(self.people, return_inverse=True)[1])
        return build(run.algorithm, run.problem(workers, self.share), state, **options)

    def state(
        self, pulls: Counts, rewards: Any, verdict: Any, memory: Memory, out: Any = None
    ) -> State:
        """Of (n,) columns by arm, the rows of these arms.

        out  answers asked and not counted yet, where what is made of the others is to be judged
        """
        nothing, left = np.zeros(0, np.int64), pulls > 0
        left[self.arms] = False
        return State(
            pulls[self.arms].astype(np.int64),
            np.asarray(rewards[self.arms], float),
            verdict[self.arms].astype(np.int8),
            expand(memory),
            nothing if out is None else np.asarray(out[self.arms], np.int64),
            np.array([rewards[left], pulls[left]], float),
        )

    def spread(self, values: Any, rest: Any) -> NDArray[Any]:
        """(n,) by the run's arms, of (r,) values of these; ``rest`` stands for the others."""
        spread = np.full(self.n, rest, dtype=np.asarray(values).dtype)
        spread[self.arms] = values
        return spread

    def places(self, arms: Counts) -> Counts:
        """The algorithm's numbers of these arms of the run; -1 for those who are gone."""
        return self.spread(np.arange(self.arms.size), -1)[arms]


def _people(run: Run, n: int) -> Counts:
    """(n,) the worker of each arm: read only where it matters that one has several arms."""
    if not (run.several and run.one_kind_each):
        return np.zeros(n, np.int64)
    return np.array(run.candidates.order_by("arm").values_list("worker_id", flat=True), np.int64)
