"""Sets of arms of largest total value: the top K, within quotas, or as an assignment."""

from typing import Any

import numpy as np
import scipy  # it loads optimize at first use: few runs match, but all processes start
from numpy.typing import NDArray

from .options import Option
from .problem import ProblemError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

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
    "Arms are workers for kinds of task, every kind gets so many and nobody two: workers, tasks, "
    "wanted.",
    "object",
    by_hand=False,
)


def top_arms(values: Floats, k: int) -> Counts:
    """Find the k arms of largest value, in rising order of number; nan counts as least.

    They are the first k of ``rank_arms``, found without sorting the others.
    """
    if not 0 < k < values.size:
        return np.arange(values.size if k > 0 else 0)
    least = -np.partition(-values, k - 1)[k - 1]
    if np.isnan(least):
        return np.sort(rank_arms(values)[:k])
    chosen = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: k - chosen.size]
    return np.sort(np.concatenate([chosen, ties]))


def rank_arms(values: Floats) -> Counts:
    """Sort (n,) arms from the largest value to the smallest, ties by number; nan is last."""
    return np.argsort(-values, kind="stable")


def kth_rival_values(values: Floats, k: int) -> Floats:
    """Find (n,) for each arm the k-th largest value among the others (UGapE, section 3).

    Needs 1 <= k < n.
    """
    kth, next_value = -np.partition(-values, (k - 1, k))[k - 1 : k + 1]
    rival: Floats = np.where(values >= kth, next_value, kth)
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
        self.groups = _parse_numbers(option, "groups")
        m = int(self.groups.max(initial=-1)) + 1
        if self.groups.size != n or self.groups.min(initial=0) < 0:
            raise ProblemError(f"Quotas need the group of each of the {n} workers.")
        self.sizes = np.bincount(self.groups, minlength=m)
        self.at_least = _parse_numbers(option, "at_least", np.zeros(m, np.int64))
        most = np.minimum(_parse_numbers(option, "at_most", self.sizes)[:m], self.sizes)
        self.at_most = most
        self._check(m)

    def _check(self, m: int) -> None:
        if self.at_least.size != m or self.at_most.size != m:
            raise ProblemError(f"Quotas need one least and one greatest number for {m} groups.")
        if (self.at_least < 0).any() or (self.at_least > self.at_most).any():
            raise ProblemError("A quota asks for more workers of a group than it allows or has.")
        if not self.at_least.sum() <= self.k <= self.at_most.sum():
            raise ProblemError(f"The quotas cannot be kept with {self.k} workers.")

    def best(self, values: Floats) -> NDArray[np.bool_]:
        """Flag (n,) the feasible set of largest total: the least numbers first, then greedily."""
        if self.sizes.size == 1:
            chosen = np.zeros(values.size, bool)
            chosen[top_arms(values, self.k)] = True
            return chosen
        order = rank_arms(values)
        # place (n,): rank of each arm within its group, 0 the best. Sorting the ranking by group,
        # stably, lays the groups one after another, each from best to worst.
        place = np.empty(order.size, np.int64)
        in_group = np.argsort(self.groups[order], kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        place[order[in_group]] = np.arange(order.size) - starts[self.groups[order[in_group]]]
        chosen = place < self.at_least[self.groups]
        # The least numbers are in; of the arms within the greatest, the best fill the places left.
        # Greedy is right because the sets that keep to quotas are the bases of a matroid.
        free = ~chosen & (place < self.at_most[self.groups])
        chosen[order[free[order]][: self.k - int(chosen.sum())]] = True
        return chosen


class Matching:
    """The best way to give each kind of task its workers; an arm is a worker for a kind.

    workers  (n,) worker of each arm
    tasks    (n,) kind of task of each arm, numbered from 0
    wanted   (m,) workers for each kind, 1 if missing

    A selection gives every kind its workers, and no worker to two: k is the number wanted in all.
    Raises ProblemError if there is no such selection.
    """

    within = ", among all selections of so many for each kind of task and nobody for two"

    def __init__(self, n: int, k: int, option: dict[str, Any]) -> None:
        self.workers, self.tasks = (
            _parse_numbers(option, "workers"),
            _parse_numbers(option, "tasks"),
        )
        if self.workers.size != n or self.tasks.size != n or self._least() < 0:
            raise ProblemError(f"A matching needs the worker and the task of each of {n} arms.")
        kinds = int(self.tasks.max()) + 1
        self.wanted = _parse_numbers(option, "wanted", np.ones(kinds, np.int64))
        if self.wanted.size != kinds or (self.wanted < 1).any():
            raise ProblemError(f"A matching needs a number of workers for each of {kinds} kinds.")
        if self.wanted.sum() != k:
            raise ProblemError(
                f"A matching for {kinds} kinds of task that wants {self.wanted.sum()} workers "
                f"selects as many, not {k}."
            )
        self.best(np.zeros(n))

    def _least(self) -> int:
        return int(min(self.workers.min(initial=0), self.tasks.min(initial=0)))

    def best(self, values: Floats) -> NDArray[np.bool_]:
        """Flag (n,) the selection of largest total."""
        chosen = assign_workers(values, self.workers, self.tasks, self.wanted)
        if chosen.sum() < self.wanted.sum():
            raise ProblemError("There are too few workers to give each kind of task its own.")
        return chosen


def assign_workers(
    values: Floats, workers: Counts, tasks: Counts, wanted: Counts
) -> NDArray[np.bool_]:
    """Flag (n,) at most ``wanted`` arms of each task, no two of one worker, as many as possible.

    Of all such sets it is that of largest total (Hungarian method).
    """
    arms = _perhaps_needed(values, workers, tasks, wanted)
    # (kinds, workers) value of each; if a worker is not an arm of a kind, so little that no total
    # makes up for it.
    forbidden = -1e6 * (1 + np.abs(values[arms]).max(initial=0))
    people, column = np.unique(workers[arms], return_inverse=True)
    value_table = np.full((wanted.size, people.size), forbidden)
    arm_at = np.full(value_table.shape, -1)
    value_table[tasks[arms], column] = values[arms]
    arm_at[tasks[arms], column] = arms
    places = np.repeat(np.arange(wanted.size), wanted)
    filled, columns = scipy.optimize.linear_sum_assignment(value_table[places], maximize=True)
    matched = arm_at[places[filled], columns]
    chosen = np.zeros(values.size, bool)
    chosen[matched[matched >= 0]] = True
    return chosen


def _perhaps_needed(values: Floats, workers: Counts, tasks: Counts, wanted: Counts) -> Counts:
    """Find the arms of all workers that are among the best of a kind, as many as all kinds want.

    Other kinds can take no more workers away than they want, so no worker beyond these gets a
    place.
    """
    needed = np.zeros(int(workers.max(initial=-1)) + 1, bool)
    for kind in range(wanted.size):
        arms = np.flatnonzero(tasks == kind)
        needed[workers[arms[rank_arms(values[arms])[: wanted.sum()]]]] = True
    return np.flatnonzero(needed[workers])


def _parse_numbers(option: dict[str, Any], name: str, default: Counts | None = None) -> Counts:
    value = option.get(name, default)
    try:
        numbers = np.asarray(value, np.int64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name} must be a list of whole numbers.") from error
    if numbers.ndim != 1:
        raise ProblemError(f"{name} must be a list of whole numbers.")
    return numbers
