"""A simulated crowd whose answers are kept, so that they can be graded anew."""

import numpy as np
from numpy.typing import NDArray

from research.cells import Floats

from .latency import CrowdLatency, OpenAssignments

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

WRONG_GOLD, EARLY = 5, 40  # so many of everybody's first questions have a wrong gold answer


class RelabelledAssignments(OpenAssignments):
    """Hands that keep what was answered, so that it can be graded anew."""

    def __init__(self, truth: Floats, manner: CrowdLatency, rng: np.random.Generator) -> None:
        super().__init__(truth, manner, rng)
        n = truth.size
        self.handed = 0
        self.corrected = False
        self.stays = np.zeros(n, bool)
        # Of each worker, by position: whether truly right, and whether it lapsed.
        self._right: list[list[bool]] = [[] for _ in range(n)]
        self._lapsed: list[list[bool]] = [[] for _ in range(n)]
        self._closed = np.zeros(n, np.int64)
        # The questions that everybody meets first, in an order of their own; some have wrong gold.
        self._first = np.array([rng.permutation(EARLY) for _ in range(n)])
        self.retired = np.zeros(EARLY, bool)
        self.pulls = np.zeros(n, np.int64)

    def give(self, counts: Counts) -> None:
        self.handed += int(counts.sum())
        super().give(counts)

    def _draw_answer(self, arm: int) -> tuple[float, float]:
        self.truth, kept = np.ones_like(self.truth), self.truth
        when, in_time = super()._draw_answer(arm)
        self.truth = kept
        self._right[arm].append(bool(self.rng.random() < kept[arm]))
        self._lapsed[arm].append(in_time == 0.0)
        return when, 0.0

    def count(self) -> None:
        """Wait until any answer counts."""
        arms, _ = self.wait()
        np.add.at(self._closed, arms, 1)
        self._recount()

    def _recount(self) -> None:
        self.pulls = self._closed.copy()
        if self.retired.any():
            self.pulls -= [
                self._voided_answers(arm, int(self._closed[arm])).sum()
                for arm in range(len(self.pulls))
            ]

    def drop(self, arm: int) -> None:
        """Drop what is out with a worker who leaves: it is never counted."""
        self._held[arm].clear()

    def _voided_answers(self, arm: int, many: int) -> Flags:
        """(many,) of the first answers, whose question was retired."""
        void = np.zeros(many, bool)
        void[:EARLY] = self.retired[self._first[arm, :many]]
        return void

    def _grade_answers(self, arm: int, start: int, stop: int) -> Flags:
        """(stop - start,) these answers, by position, as the gold answers are now."""
        right = np.array(self._right[arm][start:stop], bool)
        if not self.corrected and start < EARLY:
            right[: EARLY - start] ^= self._first[arm, start:stop] < WRONG_GOLD
        right &= ~np.array(self._lapsed[arm][start:stop], bool)
        return right

    def right(self, arm: int, start: int, count: int) -> Floats:
        """(count,) of the counted answers from the start-th: 1 or 0."""
        if not self.retired.any():
            return self._grade_answers(arm, start, start + count).astype(float)
        many = int(self._closed[arm])
        kept = self._grade_answers(arm, 0, many)[~self._voided_answers(arm, many)]
        return kept[start : start + count].astype(float)

    def retire(self, many: int) -> None:
        """Return the early questions of the least share right so far: a choice after looking."""
        right, asked = np.zeros(EARLY), np.zeros(EARLY)
        for arm in range(self.pulls.size):
            graded = self._grade_answers(arm, 0, min(EARLY, int(self._closed[arm])))
            np.add.at(right, self._first[arm, : graded.size], graded)
            np.add.at(asked, self._first[arm, : graded.size], 1)
        self.retired[np.argsort(right / np.maximum(asked, 1) + (asked == 0))[:many]] = True
        self._recount()
