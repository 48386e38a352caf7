"""The items dealt to each candidate, and its results, counted in the order dealt.

A result that comes early waits until all earlier items of its candidate have theirs: if slow
results were more often wrong, counting on arrival would favour the first ones.
"""

import math
from collections.abc import Mapping

import numpy as np

from topk.question_order import questions_at
from topk.selector import UNLIMITED, Counts

from .told import QUIET


class Counting:
    """Arrays are (n,), by candidate.

    dealt           the numbers of the items dealt to each, in order
    closed          how many of these have been passed, with or without a value
    pulls, rewards  counted values and their sums
    exhausted       True if a candidate has no more items
    failed          True once ``limit`` items in a row were without a value
    """

    def __init__(
        self, n: int, items: int | None, seed: int, limit: int, common_order: bool = False
    ) -> None:
        self._items, self._seed, self._limit, self._common_order = items, seed, limit, common_order
        self.dealt: list[list[int]] = [[] for _ in range(n)]
        self._orders: dict[int, list[int]] = {}
        self.failed, self.exhausted = np.zeros(n, bool), np.zeros(n, bool)
        self.restart()

    def restart(self) -> None:
        """Count nothing yet of what was dealt."""
        n = len(self.dealt)
        self.closed, self._missing_in_row = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.pulls, self.rewards = np.zeros(n, np.int64), np.zeros(n)

    @property
    def outstanding(self) -> Counts:
        """How many items of each wait for a result, or for one of an earlier item."""
        return np.array([len(dealt) for dealt in self.dealt]) - self.closed

    @property
    def room(self) -> Counts:
        """How many more items may be dealt to each."""
        most = UNLIMITED if self._items is None else self._items
        return np.where(self.exhausted, 0, most - self.closed - self.outstanding)

    def deal_items(self, candidate: int, count: int) -> list[int]:
        """Deal the next items in this candidate's random order: its own, or that of all."""
        dealt = self.dealt[candidate]
        if self._items is None:
            items = list(range(len(dealt), len(dealt) + count))
        else:
            items = self.order_of(candidate)[len(dealt) : len(dealt) + count]
        dealt += items
        return items

    def order_of(self, candidate: int) -> list[int]:
        candidate = 0 if self._common_order else candidate
        if candidate not in self._orders:
            arms, places = np.full(self._items or 0, candidate), np.arange(self._items or 0)
            order = questions_at(self._seed, arms, places, places.size)
            self._orders[candidate] = order.tolist()
        return self._orders[candidate]

    def take_values(
        self, candidate: int, told: Mapping[tuple[int, int], tuple[float | None, str]], most: int
    ) -> list[float]:
        """Count and return the values that come next in order, at most so many.

        Where all candidates have one order, nan keeps the place of a missing value.
        """
        values: list[float] = []
        pulls = 0
        for item in self.dealt[candidate][self.closed[candidate] :]:
            if len(values) >= most or (candidate, item) not in told:
                break
            value, reason = told[candidate, item]
            self.closed[candidate] += 1
            if value is not None:
                values.append(value)
                pulls += 1
                self.rewards[candidate] += value
                self._missing_in_row[candidate] = 0
                continue
            if self._common_order:
                values.append(math.nan)
            if reason not in QUIET:
                self._missing_in_row[candidate] += 1
                self.failed[candidate] |= self._missing_in_row[candidate] >= self._limit
        self.pulls[candidate] += pulls
        return values
