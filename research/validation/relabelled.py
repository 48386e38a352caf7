"""A simulated crowd with stored answers, which can be graded again."""

import numpy as np
from numpy.typing import NDArray

from research.cells import Floats

from .latency import CrowdLatency, OpenAssignments

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

WRONG_GOLD, EARLY = 5, 40  # WRONG_GOLD of the EARLY first questions have a wrong key


class RelabelledAssignments(OpenAssignments):
    """Open assignments whose answers are stored, to be graded again."""

    def __init__(self, truth: Floats, manner: CrowdLatency, rng: np.random.Generator) -> None:
        super().__init__(truth, manner, rng)
        n = truth.size
        self.handed = 0
        self.corrected = False
        self.stays = np.zeros(n, bool)
        # For each worker, by position: True if truly right, and if expired.
        self._right: list[list[bool]] = [[] for _ in range(n)]
        self._lapsed: list[list[bool]] = [[] for _ in range(n)]
        self._closed = np.zeros(n, np.int64)
        # The first questions of everybody, in each worker's own order; some have a wrong key.
        self._first = np.array([rng.permutation(EARLY) for _ in range(n)])
        self.retired = np.zeros(EARLY, bool)
        self.pulls = np.zeros(n, np.int64)

    def give(self, counts: Counts) -> None:
        self.handed += int(counts.sum())
        super().give(counts)

    def _draw_answer(self, arm: int) -> tuple[float, float]:
        self.truth, truth = np.ones_like(self.truth), self.truth
        when, in_time = super()._draw_answer(arm)
        self.truth = truth
        self._right[arm].append(bool(self.rng.random() < truth[arm]))
        self._lapsed[arm].append(in_time == 0.0)
        return when, 0.0

    def count(self) -> None:
        """Wait until an answer counts, and count it."""
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
        """Delete the open assignments of a worker who leaves."""
        self._held[arm].clear()

    def _voided_answers(self, arm: int, many: int) -> Flags:
        """Return (many,) flags of the first answers: True if the question was retired."""
        void = np.zeros(many, bool)
        void[:EARLY] = self.retired[self._first[arm, :many]]
        return void

    def _grade_answers(self, arm: int, start: int, stop: int) -> Flags:
        """Return (stop - start,) flags of these answers: True if right by the present keys."""
        grades = np.array(self._right[arm][start:stop], bool)
        if not self.corrected and start < EARLY:
            grades[: EARLY - start] ^= self._first[arm, start:stop] < WRONG_GOLD
        grades &= ~np.array(self._lapsed[arm][start:stop], bool)
        return grades

    def right(self, arm: int, start: int, count: int) -> Floats:
        """Return (count,) rewards of the counted answers from the start-th."""
        if not self.retired.any():
            return self._grade_answers(arm, start, start + count).astype(float)
        many = int(self._closed[arm])
        grades = self._grade_answers(arm, 0, many)[~self._voided_answers(arm, many)]
        return grades[start : start + count].astype(float)

    def retire(self, many: int) -> None:
        """Retire this many early questions with the least share right so far."""
        hits, asks = np.zeros(EARLY), np.zeros(EARLY)
        for arm in range(self.pulls.size):
            graded = self._grade_answers(arm, 0, min(EARLY, int(self._closed[arm])))
            np.add.at(hits, self._first[arm, : graded.size], graded)
            np.add.at(asks, self._first[arm, : graded.size], 1)
        self.retired[np.argsort(hits / np.maximum(asks, 1) + (asks == 0))[:many]] = True
        self._recount()
