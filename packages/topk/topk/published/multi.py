"""Several problems on one budget: each has its own arms and K, and hard ones get more answers.

A MultiProblem is a Problem whose arms are split into parts, so states, asking and telling are those
of any selector; ``selection`` returns the K best of every part.

MultiSAR    Bubeck, Wang, Viswanathan: Multiple identifications in multi-armed bandits, ICML 2013,
            Figure 2; K above 1 in a part is ours
MultiUGapE  Gabillon, Ghavamzadeh, Lazaric, Bubeck: Multi-bandit best arm identification, NIPS 2011,
            with the gaps of UGapE (2012)
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from topk.best_sets import rank_arms, top_arms
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.selector import Counts, Floats, Selector, Standing
from topk.state import State, Verdict

from . import kernels
from .kernels import Arms, Memo, Strategy
from .sequential import strategy_for
from .successive_rejects import PhaseSelector
from .ugape import EXPLORATION


@dataclass(frozen=True)
class MultiProblem(Problem):
    """Choose the ``ks[p]`` best arms of every part p.

    parts  (n,) part of each arm, numbered from 0
    ks     arms to select from each part, at least 1 and fewer than it has

    ``n`` and ``k`` are the totals; ``build`` fills them in.
    """

    parts: tuple[int, ...] = ()
    ks: tuple[int, ...] = ()

    @classmethod
    def build(
        cls,
        parts: Sequence[int],
        ks: Sequence[int],
        epsilon: float = 0.0,
        delta: float = 0.05,
        budget: int | None = None,
    ) -> "MultiProblem":
        return cls(len(parts), sum(ks), epsilon, delta, budget, tuple(parts), tuple(ks))

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = [self.parts.count(part) for part in range(len(self.ks))]
        if len(self.parts) != self.n or sum(sizes) != self.n or sum(self.ks) != self.k:
            raise ProblemError(f"Each of the {self.n} arms must belong to one of the problems.")
        for number, (size, k) in enumerate(zip(sizes, self.ks, strict=True), 1):
            if not 1 <= k < size:
                raise ProblemError(
                    f"Problem {number} has {size} workers, so its K must be from 1 to {size - 1}, "
                    f"but it is {k}."
                )

    def arms_of(self) -> list[Counts]:
        parts = np.array(self.parts, np.int64)
        return [np.flatnonzero(parts == part) for part in range(len(self.ks))]


def best_of_parts(problem: MultiProblem, score: Floats) -> Counts:
    """Find the K arms of largest score of every part, in rising order."""
    pairs = zip(problem.arms_of(), problem.ks, strict=True)
    chosen = [arms[top_arms(score[arms], k)] for arms, k in pairs]
    return np.sort(np.concatenate(chosen))


class MultiSAR(PhaseSelector):
    """SAR's schedule over all arms; a phase takes out the arm of largest gap in its own part."""

    name = "multi-sar"
    title = "Multi-bandit SAR"
    several_skills = True
    takes_skills = True
    guarantee = Guarantee(
        Goal.EXACT,
        "budget",
        "Bubeck, Wang, Viswanathan 2013, Theorem 2 for one arm of each",
    )
    arm_label = "worker and skill"
    problem: MultiProblem

    def _check(self) -> None:
        self.arms_of = self.problem.arms_of()
        super()._check()

    def _end(self, order: Counts, count: int) -> None:
        """Take out ``count`` arms, one after another, each the one whose gap is largest now."""
        queue = [part for part in map(self._part, range(len(self.arms_of))) if part.arms.size]
        heap = [(-part.gap(), number) for number, part in enumerate(queue)]
        heapq.heapify(heap)
        why = f"the largest gap of all in phase {self.round}"
        for _ in range(min(count, order.size)):
            number = heapq.heappop(heap)[1]
            arm, verdict = queue[number].take()
            self._decide_all(np.array([arm]), verdict, why)
            if queue[number].arms.size:
                heapq.heappush(heap, (-queue[number].gap(), number))

    def _part(self, number: int) -> "_Part":
        arms = self.arms_of[number]
        accepted = int((self.state.verdict[arms] == Verdict.ACCEPTED).sum())
        active = arms[self.undecided[arms]]
        means = self.state.memory["means"]
        order = active[rank_arms(means[active])]
        return _Part(order, means[order], self.problem.ks[number] - accepted)

    def best(self, values: Floats) -> Counts:
        return best_of_parts(self.problem, values)

    def selection(self) -> Counts:
        return self.best(np.where(self.undecided, self._score(), 4.0 * self.state.verdict))


@dataclass
class _Part:
    """The active arms of one part from best to worst, their means (m,), and the places left."""

    arms: Counts
    means: Floats
    k: int

    def _gaps(self) -> tuple[float, float]:
        """Measure the gap from the best arm to rank k + 1, and from rank k to the worst."""
        if self.k == 0:
            return -np.inf, np.inf
        if self.k == self.arms.size:
            return np.inf, -np.inf
        return self.means[0] - self.means[self.k], self.means[self.k - 1] - self.means[-1]

    def gap(self) -> float:
        return max(self._gaps())

    def take(self) -> tuple[int, Verdict]:
        """Take out the arm of largest gap; on equal gaps the worst goes."""
        lead, lag = self._gaps()
        if lead > lag:
            arm, verdict = self.arms[0], Verdict.ACCEPTED
            self.arms, self.means, self.k = self.arms[1:], self.means[1:], self.k - 1
        else:
            arm, verdict = self.arms[-1], Verdict.REJECTED
            self.arms, self.means = self.arms[:-1], self.means[:-1]
        return int(arm), verdict


class MultiUGapE(Selector):
    """UGapEb in every part; the next pull goes to the part whose B_J is largest.

    The selection of a part is the J of least B_J seen at any look. If the exploration is unknown,
    it is estimated from all parts together: no guarantee.
    """

    name = "multi-ugape"
    title = "Multi-bandit UGapE"
    several_skills = True
    takes_skills = True
    takes_scores = True
    guarantee = Guarantee(
        Goal.EXPLORE_K, "budget", "Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011; no theorem for K"
    )
    needs = ("epsilon", "budget")
    epsilon_moves = False  # it enters the gaps from which the exploration is estimated
    known_options: ClassVar[tuple[Option, ...]] = (
        EXPLORATION,
        Option("eta", 1.0, "What the estimated exploration is multiplied by.", above=0, most=1000),
    )
    path_dependent = True
    open_roster = False
    problem: MultiProblem

    def __init__(self, problem: MultiProblem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        count = len(problem.ks)
        self.state.memory.setdefault("best", [[] for _ in range(count)])
        self.state.memory.setdefault("best_gaps", [None] * count)

    def _check(self) -> None:
        self.arms_of = self.problem.arms_of()

    # -- boards, one for each part

    def _boards(self, pulls: Counts) -> list[tuple[Arms, Memo]]:
        means = np.nan_to_num(self.means, nan=0.5)
        return [
            kernels.build_board(pulls[arms], self.state.rewards[arms], means[arms], k)
            for arms, k in zip(self.arms_of, self.problem.ks, strict=True)
        ]

    def _strategies(self, boards: list[tuple[Arms, Memo]]) -> list[Strategy]:
        problem, exploration = self.problem, self.options["exploration"]
        strategies = [
            strategy_for(problem, kernels.GAPS, kernels.EXPLORATION, k=k, accuracy=problem.epsilon)
            for k in problem.ks
        ]
        for strategy, (arms, memo) in zip(strategies, boards, strict=True):
            kernels.refresh_all(strategy, arms, memo)
        if exploration is None:
            # a = eta (Q - n) / (4 H), with H summed over all problems.
            pairs = zip(strategies, boards, strict=True)
            hardness = sum(float(kernels.hardness(strategy, arms)) for strategy, (arms, _) in pairs)
            exploration = self.options["eta"] * (problem.budget or 0) / (4 * hardness)
        return [strategy._replace(exploration=exploration) for strategy in strategies]

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        if not self.state.pulls.all():
            return
        boards = self._boards(self.state.pulls)
        best, gaps = self.state.memory["best"], self.state.memory["best_gaps"]
        for p, (strategy, (arms, memo)) in enumerate(
            zip(self._strategies(boards), boards, strict=True)
        ):
            gap = float(kernels.look(strategy, arms, memo)[2])
            if gaps[p] is None or gap < gaps[p]:
                gaps[p], best[p] = gap, np.flatnonzero(arms[kernels.CHOSEN] < 0).tolist()

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        fresh = np.clip(1 - self.state.pulls - pending, 0, room)
        most = self.problem.n if slots is None else slots
        plan: Counts = np.clip(most - np.cumsum(fresh) + fresh, 0, fresh)
        rest = 1 if slots is None else slots - int(plan.sum())
        if rest <= 0 or (slots is None and plan.any()):
            return plan
        return plan + self._look_ahead(rest, pending + plan, room - plan)

    def _look_ahead(self, slots: int, pending: Counts, room: Counts) -> Counts:
        pulls, plan = self.state.pulls + pending, np.zeros_like(pending)
        boards = self._boards(pulls)
        strategies = self._strategies(boards)
        for arms, (board, _) in zip(self.arms_of, boards, strict=True):
            board[kernels.SHUT, (room[arms] <= 0) | (pulls[arms] < 1)] = np.inf
        looks = [
            kernels.look(strategy, *board)
            for strategy, board in zip(strategies, boards, strict=True)
        ]
        # looks[p]: the arm part p would pull, and its B_J. The open part of largest B_J goes next.
        while slots > 0 and any(look[0] >= 0 for look in looks):
            p = max(range(len(looks)), key=lambda p: (looks[p][0] >= 0, looks[p][2]))
            arm, (board, memo) = looks[p][0], boards[p]
            place = self.arms_of[p][arm]
            portion = min(
                1 + (slots - 1) // kernels.PORTIONS, int(room[place] - plan[place]), slots
            )
            kernels.count(strategies[p], board, memo, arm, portion)
            plan[place] += portion
            slots -= portion
            if plan[place] == room[place]:
                board[kernels.SHUT, arm] = np.inf
            looks[p] = kernels.look(strategies[p], board, memo)
        return plan

    # -- judging

    def _is_done(self) -> bool:
        return self._budget_left(np.zeros(1, np.int64)) <= 0

    def best(self, values: Floats) -> Counts:
        return best_of_parts(self.problem, values)

    def selection(self) -> Counts:
        best = self.state.memory["best"]
        if not all(best):
            return self.best(np.nan_to_num(self.means, nan=-1.0))
        chosen = [arms[np.array(places)] for arms, places in zip(self.arms_of, best, strict=True)]
        return np.sort(np.concatenate(chosen))

    def standing(self) -> Standing:
        verdict, n = self._final(), self.problem.n
        share = self._budget_left(np.zeros(1, np.int64)) / (self.problem.budget or 1)
        gap = max(0.0, share)
        return Standing(
            self.means, np.zeros(n), np.ones(n), verdict, verdict, gap, self.problem.epsilon
        )
