"""Simulation of a run under the rules of the app: no worker answers a question twice."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from topk import GUARANTEE_KEPT, THIS_SET, Selector
from topk.mean_bound import bound_mean
from topk.published.sequential import SequentialSelector
from topk.rewards import draw_rewards

from .beliefs import Belief
from .candidates import Contender
from .plan import Plan
from .selected_quality import limit_total

SEED = 20
BATCH, BATCH_OF_POOL = 0.05, 0.1  # slots of algorithms that would ask for one or two answers
MOST_NEEDED = 20  # times all questions: limit of the search for the questions needed
ALL_PULLS = 1e8  # answers x workers: limit of that search, about a second


class TooLong(Exception):
    """A simulated run exceeded its time."""


class SimulatedEnding(StrEnum):
    GUARANTEE = "guarantee"
    QUESTIONS = "questions"
    BUDGET = "budget"


@dataclass(frozen=True)
class SimulatedRun:
    """Result of a simulated run.

    answers  paid in all
    most     of one worker
    epsilon  of the guarantee at the end; 1: nothing is guaranteed
    loss     true loss of the selection: mean of the best K less mean of the selected
    mean     true accuracy of the selected, on average; None if nobody is selected
    stated   the mean accuracy that the run states at its end
    passing  number of the selected that reach the pass mark; None without a mark
    """

    answers: int
    most: int
    ending: SimulatedEnding
    epsilon: float
    loss: float
    mean: float | None = None
    stated: float | None = None
    passing: int | None = None


def draw_pool(contender: Contender, belief: Belief, number: int) -> NDArray[np.float64]:
    """Draw (n,) accuracies of the pool of this number: the same for every algorithm."""
    return belief.draw(contender.plan.workers, np.random.default_rng([SEED, number]))


def simulate_run(
    contender: Contender, truth: NDArray[np.float64], number: int, until: float = inf
) -> SimulatedRun:
    """Simulate the algorithm on workers of these accuracies, in no order; the number is a seed.

    Raises TooLong if it is not finished at ``until``, by the clock ``thread_time``: of work.

    Answers out of a finite set without replacement are, for a worker whose set was drawn, as
    independent as any: one simulation serves both meanings of accuracy.
    """
    rng = np.random.default_rng([SEED, number, 1])
    selector = contender.selector()
    plan = contender.plan
    ending = play_to_end(selector, truth, plan.room(), rng, until, plan.left)
    selected = truth[selector.selection()]
    return SimulatedRun(
        answers=int(selector.state.pulls.sum()),
        most=int(selector.state.pulls.max()),
        ending=ending,
        epsilon=_epsilon_reached(contender, selector, ending),
        loss=_true_loss(plan, truth, selected),
        mean=float(selected.mean()) if selected.size else None,
        stated=_state_mean(contender, selector) if selected.size else None,
        passing=None if plan.mark is None else _count_passing(plan, selected),
    )


def _state_mean(contender: Contender, selector: Selector) -> float:
    """Bound the mean accuracy of the selected from below, as an ended run does."""
    state, on_set = selector.state, contender.options.get("accuracy") == THIS_SET
    return bound_mean(
        state.rewards,
        state.pulls,
        selector.selection(),
        contender.plan.k,
        contender.plan.delta,
        questions=np.full(state.pulls.size, contender.plan.questions) if on_set else None,
    )


def _count_passing(plan: Plan, selected: NDArray[np.float64]) -> int:
    """Count the selected that reach the mark; a rule for a mark selects those that pass."""
    return selected.size if plan.goal == "mark" else int((selected >= (plan.mark or 0)).sum())


def _true_loss(plan: Plan, truth: NDArray[np.float64], selected: NDArray[np.float64]) -> float:
    """Return the mean loss against the best K, or of the selected against the pass mark."""
    if plan.goal != "mark" or plan.mark is None:
        return float(np.sort(truth)[-plan.k :].mean() - selected.mean())
    return float(np.maximum(plan.mark - selected, 0).mean()) if selected.size else 0.0


def play_to_end(
    selector: Selector,
    truth: NDArray[np.float64],
    questions: int | NDArray[np.int64],
    rng: np.random.Generator,
    until: float = inf,
    left: int | None = None,
) -> SimulatedEnding:
    """Simulate on from the selector's state, on workers of these accuracies (n,).

    questions  most answers that a worker can have at the end, or (n,) of them
    left       answers that all together can still give, if the questions limit that

    Raises TooLong if it is not finished at ``until``.
    """
    most = inf if left is None else int(selector.state.pulls.sum()) + left
    while not (reasons := selector.stop()):
        if thread_time() > until:
            raise TooLong
        room = questions - selector.state.pulls
        counts = selector.ask(_slots_of(selector), room=room, rng=rng)
        counts = limit_total(counts, most - float(selector.state.pulls.sum()))
        arms = np.flatnonzero(counts)
        if not arms.size:
            return SimulatedEnding.QUESTIONS
        selector.tell(arms, draw_rewards(truth[arms], counts[arms], False, rng), counts[arms])
    return SimulatedEnding.GUARANTEE if GUARANTEE_KEPT in reasons else SimulatedEnding.BUDGET


def _slots_of(selector: Selector) -> int | None:
    """Limit the slots to a crowd's if the algorithm would ask for one or two, else None."""
    if not (isinstance(selector, SequentialSelector) or selector.takes_mark):
        return None
    batch = int(BATCH * selector.state.pulls.sum())
    return max(1, int(BATCH_OF_POOL * selector.problem.n), batch)


def _epsilon_reached(contender: Contender, selector: Selector, ending: SimulatedEnding) -> float:
    if contender.fixed_budget:
        return 1.0
    if ending is SimulatedEnding.GUARANTEE:
        return selector.problem.epsilon
    return min(1.0, selector.standing().gap)


@dataclass(frozen=True)
class AnswerNeed:
    """Answers that the worker asked most would have to give; ``ended`` is False if even more."""

    most: int
    ended: bool


def simulate_need(contender: Contender, truth: NDArray[np.float64]) -> AnswerNeed:
    plan, rng = contender.plan, np.random.default_rng([SEED, 0, 1])
    selector = contender.selector(replace(plan.problem(), budget=None))
    cap = int(min(MOST_NEEDED * plan.workers * plan.questions, ALL_PULLS / plan.workers))
    ended = bool(selector.simulate(truth, cap, False, rng))
    return AnswerNeed(int(selector.state.pulls.max()), ended)
