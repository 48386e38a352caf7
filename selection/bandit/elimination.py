"""AdaptiveTopK: rounds of doubling accuracy that accept and reject as they go.

Chen, Li, Qiao: Nearly instance optimal sample complexity bounds for top-k arm selection, AISTATS
2017, Algorithm 1. Comments give its line numbers.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .allocate import level
from .oracles import ranking, top
from .problem import Problem
from .promise import Goal, Promise
from .selector import Counts, Event, Floats, Selector, Standing
from .state import State, Verdict


class AdaptiveTopK(Selector):
    """Each round pulls every undecided arm ``round_pulls(r)`` fresh times.

    It never asks beyond the present round: the promise needs the paper's own sampling, and an arm
    may be decided at the round's end.
    """

    name = "adaptive-top-k"
    title = "AdaptiveTopK"
    promise = Promise(
        Goal.AGGREGATE,
        "confidence",
        "Chen, Li, Qiao 2017, Theorems 1 and 4",
    )

    def __init__(self, problem: Problem, state: State | None = None) -> None:
        super().__init__(problem, state)
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

    # -- the state's own words

    @property
    def round(self) -> int:
        """The round that is under way, from 1."""
        return int(self.state.memory["round"])

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """S_r."""
        undecided: NDArray[np.bool_] = self.state.verdict == Verdict.UNDECIDED
        return undecided

    @property
    def places(self) -> int:
        """K - |A|."""
        return self.problem.k - int((self.state.verdict == Verdict.ACCEPTED).sum())

    def round_pulls(self, r: int) -> int:
        """N_r = ceil(2^2r ln(2 n r^2 / delta)), line 4."""
        return math.ceil(4.0**r * math.log(2 * self.problem.n * r * r / self.problem.delta))

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        memory = self.state.memory
        if ((memory["pulls"] + pulls)[self.undecided] > self.round_pulls(self.round)).any():
            raise ValueError("An arm was told more answers than its round asks.")
        super()._count(pulls, rewards)
        memory["pulls"] += pulls
        memory["rewards"] += rewards
        full = memory["pulls"][self.undecided] == self.round_pulls(self.round)
        if full.any() and full.all():
            self._close_round()

    def _close_round(self) -> None:
        memory, ran = self.state.memory, self.undecided
        memory["means"][ran] = memory["rewards"][ran] / self.round_pulls(self.round)
        memory["rounds"][ran] = self.round
        self._eliminate(2 * 2.0**-self.round)
        regret_left = 2 * 2.0**-self.round * self.places / self.problem.k
        memory["gap"] = min(1.0, regret_left)
        if regret_left <= self.problem.epsilon:  # line 2
            self._take_the_best()
        memory["round"] = self.round + 1
        memory["pulls"][:] = 0
        memory["rewards"][:] = 0

    def _eliminate(self, threshold: float) -> None:
        """Lines 5 to 15 at once: a and b stay the same arms while arms leave on either side."""
        arms, k = np.flatnonzero(self.undecided), self.places
        means = self.state.memory["means"][arms]
        order = ranking(means)
        above = means - (means[order[k]] if k < arms.size else -np.inf)  # m_x - m_a
        below = (means[order[k - 1]] if k > 0 else np.inf) - means  # m_b - m_x
        rule = f"more than {threshold:g}, in round {self.round}"
        for i in np.flatnonzero(above > threshold):
            lead = f"{above[i]:.3f} above the best one outside" if k < arms.size else "unrivalled"
            self._decide(arms[i], Verdict.ACCEPTED, f"mean {means[i]:.3f}, {lead}, {rule}")
        for i in np.flatnonzero((below > threshold) & ~(above > threshold)):
            lag = f"{below[i]:.3f} below the last one inside" if k > 0 else "no place is left"
            self._decide(arms[i], Verdict.REJECTED, f"mean {means[i]:.3f}, {lag}, {rule}")

    def _take_the_best(self) -> None:
        """Line 16: the places that are left go to the best means of the last round."""
        selected = np.isin(np.arange(self.problem.n), self.selection())
        when = f"among the best {self.problem.k} when the promise held after round {self.round}"
        for arm in np.flatnonzero(self.undecided):
            inside = bool(selected[arm])
            verdict = Verdict.ACCEPTED if inside else Verdict.REJECTED
            mean = self.state.memory["means"][arm]
            self._decide(arm, verdict, f"mean {mean:.3f}, {'' if inside else 'not '}{when}")

    def _decide(self, arm: np.int64, verdict: Verdict, why: str) -> None:
        self.state.verdict[arm] = verdict
        self.events.append(Event(int(arm), verdict, why))

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        lacking = self.round_pulls(self.round) - self.state.memory["pulls"] - pending
        need = np.clip(lacking, 0, room)
        return need if slots is None else level(need, slots)

    # -- judging

    def _done(self) -> bool:
        return not self.undecided.any()

    def selection(self) -> Counts:
        """The accepted and, in the places left, the best means of the last completed round."""
        score = (
            self.state.memory["means"]
            if self.state.memory["gap"] < 1
            else np.nan_to_num(self.means, nan=-1)
        )
        return top(np.where(self.undecided, score, 2.0 * self.state.verdict), self.problem.k)

    def standing(self) -> Standing:
        """On the event of the proof a round's mean is within 2^-r of the truth (Claim 1)."""
        memory, means = self.state.memory, self.means
        radius = 2.0 ** -memory["rounds"]
        return Standing(
            mean=means,
            lower=np.fmin(np.clip(memory["means"] - radius, 0, 1), means),
            upper=np.fmax(np.clip(memory["means"] + radius, 0, 1), means),
            verdict=self.state.verdict,
            settled=self.state.verdict,
            gap=memory["gap"],
            wanted=self.problem.epsilon,
        )
