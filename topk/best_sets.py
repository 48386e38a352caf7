"""Which set is best for given values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .options import Option
from .problem import ProblemError

QUOTAS = Option(
    "quotas",
    None,
    "Least and greatest numbers of workers of each group: groups, at_least, at_most.",
    "object",
    by_hand=False,
)
MATCHING = Option(
    "matching",
    None,
    "Arms are workers for kinds of task, and every kind gets one worker: workers, tasks.",
    "object",
    by_hand=False,
)


def top(values: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The k arms of largest value, in rising order of number; nan counts as least."""
    return np.sort(ranking(values)[:k])


def ranking(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) arms from the largest value to the smallest, ties in order of number; nan is last."""
    return np.argsort(-values, kind="stable")


def rivals(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """(n,) for each arm the k-th largest value among the others (UGapE, section 3).

    Needs 1 <= k < n.
    """
    order = ranking(values)
    kth, next_one = values[order[k - 1]], values[order[k]]
    rival = np.full(values.shape, kth)
    rival[order[:k]] = next_one
    return rival


class Quotas:
    """The best k arms with at least and at most so many of each group (a partition matroid).

    groups    (n,) group of each arm, numbered from 0
    at_least  (m,) least number of arms of each group
    at_most   (m,) most

    Raises ProblemError when no selection of k arms keeps to them.
    """

    within = ", among all selections that keep to the quotas"

    def __init__(self, n: int, k: int, option: dict[str, Any]) -> None:
        self.k = k
        self.groups = _numbers(option, "groups")
        m = int(self.groups.max(initial=-1)) + 1
        if self.groups.size != n or self.groups.min(initial=0) < 0:
            raise ProblemError(f"Quotas need the group of each of the {n} workers.")
        self.sizes = np.bincount(self.groups, minlength=m)
        self.at_least = _numbers(option, "at_least", np.zeros(m, np.int64))
        most = np.minimum(_numbers(option, "at_most", self.sizes)[:m], self.sizes)
        self.at_most = most
        self._check(m)

    def _check(self, m: int) -> None:
        if self.at_least.size != m or self.at_most.size != m:
            raise ProblemError(f"Quotas need one least and one greatest number for {m} groups.")
        if (self.at_least < 0).any() or (self.at_least > self.at_most).any():
            raise ProblemError("A quota asks for more workers of a group than it allows or has.")
        if not self.at_least.sum() <= self.k <= self.at_most.sum():
            raise ProblemError(f"The quotas cannot be kept with {self.k} workers.")

    def best(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) the feasible set of largest total: the least numbers first, then greedily."""
        order = ranking(values)
        # place (n,): rank of each arm within its group, 0 the best. Sorting the ranking by group,
        # stably, lays the groups one after another, each from best to worst.
        place = np.empty(order.size, np.int64)
        in_group = np.argsort(self.groups[order], kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        place[order[in_group]] = np.arange(order.size) - starts[self.groups[order[in_group]]]
        chosen: NDArray[np.bool_] = place < self.at_least[self.groups]
        # The least numbers are in; of those within the greatest, the best fill the places left.
        # Greedy is right, as the sets that keep to quotas are the bases of a matroid.
        free = ~chosen & (place < self.at_most[self.groups])
        chosen[order[free[order]][: self.k - int(chosen.sum())]] = True
        return chosen


class Matching:
    """The best assignment of workers to kinds of task; an arm is a worker for a kind.

    workers  (n,) worker of each arm
    tasks    (n,) kind of task of each arm

    A selection gives every kind one worker, and no worker two: k is the number of kinds. Raises
    ProblemError when there is none.
    """

    within = ", among all assignments of one worker to each kind of task"

    def __init__(self, n: int, k: int, option: dict[str, Any]) -> None:
        workers, tasks = _numbers(option, "workers"), _numbers(option, "tasks")
        if workers.size != n or tasks.size != n or min(workers.min(), tasks.min()) < 0:
            raise ProblemError(f"A matching needs the worker and the task of each of {n} arms.")
        self.place = (tasks, workers)
        self.shape = (int(tasks.max()) + 1, int(workers.max()) + 1)
        if self.shape[0] != k:
            raise ProblemError(f"A matching with {self.shape[0]} kinds of task selects as many.")
        self.best(np.zeros(n))

    def best(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) the assignment of largest total (Hungarian method)."""
        gains = np.full(self.shape, -np.inf)
        gains[self.place] = values
        try:
            rows, columns = linear_sum_assignment(gains, maximize=True)
        except ValueError as error:
            raise ProblemError("No assignment gives every kind of task a worker.") from error
        if rows.size < self.shape[0]:
            raise ProblemError("No assignment gives every kind of task a worker.")
        matched = np.zeros(self.shape, bool)
        matched[rows, columns] = True
        chosen: NDArray[np.bool_] = matched[self.place]
        return chosen


def _numbers(
    option: dict[str, Any], name: str, default: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    given = option.get(name, default)
    try:
        numbers = np.asarray(given, np.int64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name} must be a list of whole numbers.") from error
    if numbers.ndim != 1:
        raise ProblemError(f"{name} must be a list of whole numbers.")
    return numbers
