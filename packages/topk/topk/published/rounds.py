"""Base of algorithms that pull in rounds and decide arms only when a round is complete."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topk.best_sets import top_arms
from topk.problem import Problem
from topk.selector import UNLIMITED, Counts, Event, Floats, Selector, Standing
from topk.state import State, Verdict
from topk.water_filling import fill_level


class RoundSelector(Selector):
    """Rounds that pull every undecided arm as often as ``_target`` says.

    It never asks beyond the present round: the guarantee needs the paper's own sampling, and an arm
    may be decided at the round's end.
    """

    in_rounds = True
    takes_scores = True
    open_roster = False  # every arm takes part in a round
    fresh: ClassVar[bool] = False  # True if means are of the round's own pulls

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        n = problem.n
        memory: dict[str, Any] = {
            "round": 1,
            "pulls": np.zeros(n, np.int64),
            "rewards": np.zeros(n),
            "means": np.full(n, 0.5),
            "rounds": np.zeros(n, np.int64),
            "gap": 1.0,
        } | self.state.memory
        self.state.memory = memory
        for field in ("pulls", "rounds"):
            memory[field] = np.array(memory[field], np.int64)
        for field in ("rewards", "means"):
            memory[field] = np.array(memory[field], float)
        self._advance()

    # -- the state

    @property
    def round(self) -> int:
        """The number of the present round, from 1."""
        return int(self.state.memory["round"])

    @property
    def undecided(self) -> NDArray[np.bool_]:
        undecided: NDArray[np.bool_] = self.state.verdict == Verdict.UNDECIDED
        return undecided

    @property
    def places(self) -> int:
        """The number of arms still to be accepted."""
        return self.problem.k - int((self.state.verdict == Verdict.ACCEPTED).sum())

    # -- defined by each algorithm

    @abstractmethod
    def _target(self) -> Counts:
        """Set (n,) total pulls of this round; the values of decided arms do not matter."""

    @abstractmethod
    def _close(self) -> None:
        """Decide the arms that the completed round decides. ``memory["means"]`` is up to date."""

    # -- observing

    def takes(self) -> Counts:
        """Count (n,) pulls that each arm lacks in this round: others may have completed theirs."""
        lacking = np.maximum(self._target() - self.state.memory["pulls"], 0)
        return np.where(self.undecided, lacking, UNLIMITED)

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        memory = self.state.memory
        beyond = (memory["pulls"] + pulls > self._target()) & (pulls > 0)
        if beyond[self.undecided].any():
            raise ValueError("An arm was told more answers than its round asks.")
        super()._count(pulls, rewards)
        memory["pulls"] += pulls
        memory["rewards"] += rewards
        self._advance()

    def _advance(self) -> None:
        """Close every round that is complete; with the budget spent, take the best."""
        while self.undecided.any() and self._complete():
            self._close_round()
        if "budget" in self.needs and self._budget_left(np.zeros(1, np.int64)) <= 0:
            self._take_the_best("when the budget was spent")

    def _complete(self) -> bool:
        return bool((self.state.memory["pulls"] >= self._target())[self.undecided].all())

    def _close_round(self) -> None:
        memory, ran = self.state.memory, self.undecided
        if self.fresh:
            ran &= memory["pulls"] > 0  # (n,) arms of this round; without an answer the mean stays
            memory["means"][ran] = memory["rewards"][ran] / memory["pulls"][ran]
        else:
            memory["means"][ran] = np.nan_to_num(self.means, nan=0.5)[ran]
        memory["rounds"][ran] = self.round
        self._close()
        memory["round"] += 1
        memory["pulls"][:] = 0
        memory["rewards"][:] = 0

    # -- deciding

    def _decide(self, arm: np.int64 | int, verdict: Verdict, why: str) -> None:
        self.state.verdict[arm] = verdict
        self.events.append(Event(int(arm), verdict, why))

    def _decide_all(self, arms: NDArray[Any], verdict: Verdict, why: str) -> None:
        """Decide these arms, given by number or as flags."""
        for arm in np.flatnonzero(arms) if arms.dtype == bool else arms:
            self._decide(arm, verdict, f"mean {self.state.memory['means'][arm]:.3f}, {why}")

    def _take_the_best(self, when: str) -> None:
        """Accept the arms of ``selection`` for the places left, and reject the rest."""
        selected = np.isin(np.arange(self.problem.n), self.selection()) & self.undecided
        rest = self.undecided & ~selected
        self._decide_all(selected, Verdict.ACCEPTED, f"among the best {self.problem.k} {when}")
        self._decide_all(rest, Verdict.REJECTED, f"not among the best {self.problem.k} {when}")

    def _settle_the_rest(self) -> None:
        """Decide all undecided arms once places or arms have run out."""
        rest = self.undecided
        if self.places == 0:
            self._decide_all(rest, Verdict.REJECTED, "no place was left")
        elif self.places == rest.sum():
            self._decide_all(rest, Verdict.ACCEPTED, "as many were left as places")

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        lacking = self._target() - self.state.memory["pulls"] - pending
        need = np.clip(lacking, 0, room)
        return need if slots is None else fill_level(need, slots)

    # -- judging

    def _is_done(self) -> bool:
        return not self.undecided.any()

    def _score(self) -> Floats:
        """Score (n,) the values by which undecided arms are ranked."""
        return np.nan_to_num(self.means, nan=-1)

    def selection(self) -> Counts:
        """Choose the accepted and, in the places left, the undecided arms of best score."""
        return top_arms(
            np.where(self.undecided, self._score(), 4.0 * self.state.verdict), self.problem.k
        )

    def _interval(self) -> tuple[Floats, Floats]:
        """Bound (n,) the means; by default by 0 and 1."""
        return np.zeros(self.problem.n), np.ones(self.problem.n)

    def _gap(self) -> float:
        if self.guarantee.fixed == "budget":
            return max(0.0, 1 - int(self.state.pulls.sum()) / (self.problem.budget or 1))
        gap = float(self.state.memory["gap"])
        return min(gap, self.problem.epsilon) if self._is_done() else gap

    def standing(self) -> Standing:
        means = self.means
        lower, upper = (np.clip(bound, 0, 1) for bound in self._interval())
        return Standing(
            mean=means,
            lower=np.fmin(lower, means),
            upper=np.fmax(upper, means),
            verdict=self.state.verdict,
            settled=self.state.verdict,
            gap=self._gap(),
            wanted=self.problem.epsilon if "epsilon" in self.needs else 0.0,
            round_done=self._round_done() if self.guarantee.fixed == "confidence" else 0.0,
        )

    def _round_done(self) -> float:
        target = self._target()[self.undecided].sum()
        return float(self.state.memory["pulls"][self.undecided].sum() / target) if target else 1.0


def peel(values: Floats, k: int, count: int) -> tuple[int, int]:
    """Take ``count`` arms off the ends of (m,) values in falling order, by largest gap to rank k.

    The gap of the best is to rank k + 1, that of the worst to rank k; when the places (k = 0) or
    the arms (k = m) run out, only one end is left. On equal gaps the worst leaves.

    Returns the numbers taken from the front (accepted) and from the back (rejected).
    """
    # values[front:back] are the arms left; rank k among them is values[front + k - 1].
    front, back = 0, values.size
    for _ in range(min(count, values.size)):
        if k == 0:
            back -= 1
        elif k == back - front or (
            values[front] - values[front + k] > values[front + k - 1] - values[back - 1]
        ):
            front, k = front + 1, k - 1
        else:
            back -= 1
    return front, values.size - back
