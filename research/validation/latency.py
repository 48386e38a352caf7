"""A crowd that takes time to answer, with many open assignments at once.

A worker answers their assignments one after the other. Answers count in the order of asking; a late
one counts as wrong. ``selection.engine`` does the same.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.cells import Floats
from topk import SELECTORS, Problem, Selector
from topk.simulate import PULLS_CAP, Outcome

STEP = 0.02  # time between two steps; the unit is the mean time of an answer
DUE = 30.0  # an assignment expires this long after it was given: an hour, at two minutes each
EACH = 3  # most open assignments of a worker, the default of the app
SLOWER = 5.0


@dataclass(frozen=True)
class CrowdLatency:
    """How a crowd answers.

    slow  share of answers that take SLOWER times as long
    lost  share of assignments that are never answered
    """

    name: str
    slow: float = 0.0
    lost: float = 0.0

    def in_time(self, means: Floats) -> Floats:
        """Return (n,) shares of assignments that are answered, and right."""
        return means * (1 - self.lost)


class OpenAssignments:
    """The open assignments of each worker, in the order of asking."""

    def __init__(self, truth: Floats, manner: CrowdLatency, rng: np.random.Generator) -> None:
        self.truth, self.manner, self.rng = truth, manner, rng
        self.now = 0.0
        self._free = np.zeros(truth.size)  # the time at which a worker has answered all of theirs
        self._held: list[deque[tuple[float, float]]] = [deque() for _ in truth]

    @property
    def pending(self) -> np.ndarray:
        """(n,) assignments that do not count yet, with those answered after a lost one."""
        return np.array([len(queue) for queue in self._held], np.int64)

    @property
    def room(self) -> np.ndarray:
        """(n,) further assignments that each worker may get."""
        return np.array(
            [EACH - sum(moment > self.now for moment, _ in queue) for queue in self._held], np.int64
        )

    def give(self, counts: np.ndarray) -> None:
        """Give each worker this many assignments."""
        for arm in np.repeat(np.arange(counts.size), counts).tolist():
            self._held[arm].append(self._draw_answer(arm))

    def _draw_answer(self, arm: int) -> tuple[float, float]:
        """Return the time at which the answer counts, and its reward."""
        due = self.now + DUE
        if self.rng.random() < self.manner.lost:
            return due, 0.0
        slow = self.rng.random() < self.manner.slow
        takes = self.rng.exponential(SLOWER if slow else 1.0)
        self._free[arm] = max(self._free[arm], self.now) + takes
        grade = float(self.rng.random() < self.truth[arm])
        return (self._free[arm], grade) if self._free[arm] <= due else (due, 0.0)

    def wait(self) -> tuple[list[int], list[float]]:
        """Wait until an answer counts; return the arms and rewards that count then."""
        first = min(queue[0][0] for queue in self._held if queue)
        self.now = max(self.now, first) + STEP
        arms, rewards = [], []
        for arm, queue in enumerate(self._held):
            while queue and queue[0][0] <= self.now:
                arms.append(arm)
                rewards.append(queue.popleft()[1])
        return arms, rewards


def play_with_latency(
    algorithm: str,
    means: Floats,
    manner: CrowdLatency,
    at_once: int,
    cap: int,
    seed: int,
    **asked: Any,
) -> Outcome:
    """Run to the end with at most ``at_once`` open; open ones at the end are paid as well."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(means.size)
    selector = SELECTORS[algorithm](Problem(means.size, **asked))
    hands = OpenAssignments(means[place], manner, rng)
    reasons = _drive_selector(selector, hands, at_once, cap, rng)
    paid = np.empty(means.size, np.int64)
    paid[place] = selector.state.pulls + hands.pending
    return Outcome(int(paid.sum()), paid, np.sort(place[selector.selection()]), reasons)


def _drive_selector(
    selector: Selector, hands: OpenAssignments, at_once: int, cap: int, rng: np.random.Generator
) -> tuple[str, ...]:
    while True:
        selector.wait_for(pending := hands.pending)
        if reasons := selector.stop():
            return reasons
        if selector.state.pulls.sum() >= cap:
            return (PULLS_CAP,)
        if (free := at_once - int(pending.sum())) > 0:
            hands.give(selector.ask(free, pending, hands.room, rng))
        selector.tell(*hands.wait())
