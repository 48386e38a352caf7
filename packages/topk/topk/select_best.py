"""Selection of the K best in one call, without a server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .early_selection import select_early
from .groups import check_groups
from .prices import check_prices
from .problem import Problem, ProblemError
from .promise import Promise, rounded_up
from .registry import build_selector, score_options
from .selector import PROMISE_KEPT, Counts, Floats, Selector

Answers = Callable[[int], float]
NOTHING = "The workers that look best; no guarantee."


@dataclass(frozen=True)
class Selected:
    """The result of ``select``.

    workers    (k,) numbers of the workers selected, in rising order
    guarantee  a sentence with the guarantee, for the epsilon that was reached
    answers    (n,) how many answers each worker gave
    cost       of all answers; their number without prices
    complete   True if the guarantee is the one that was asked for
    """

    workers: Counts
    guarantee: str
    answers: Counts
    cost: float
    complete: bool


def select(
    answers: Answers | ArrayLike,
    k: int,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    n: int | None = None,
    algorithm: str = "certified",
    budget: int | None = None,
    prices: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    scores: bool | None = None,
    seed: int = 0,
    **options: Any,
) -> Selected:
    """Return the k best of n workers, asked no more often than the guarantee needs.

    answers  (n, m) rewards in [0, 1], those of a worker taken in random order, each once; or a
             function that asks the worker of this number, 0 to n - 1, and returns the reward
    n        number of workers, if ``answers`` is a function
    budget   most answers in all
    prices   (n,) of an answer of each worker, for an algorithm that takes them
    groups   (n,) labels of the workers' known groups, for an algorithm that takes them
    scores   True if rewards may lie between 0 and 1, for an algorithm whose guarantee covers them;
             None: as the table shows, and False for a function. Give it for scores that may all
             happen to be 0 or 1: the guarantee may not depend on them
    options  the algorithm's own

    Raises KeyError for an unknown algorithm, and ProblemError for one that cannot be run, or for
    rewards that are no such table.
    """
    rng = np.random.default_rng(seed)
    asked, room = (answers, None) if callable(answers) else _deal(answers, rng)
    if scores is None:
        scores = room is not None and bool((np.asarray(answers) % 1).any())
    if scores:
        options |= score_options(algorithm)
    n = n if room is None else room.size
    if n is None:
        raise ProblemError("n must say how many workers there are, if answers is a function.")
    place = rng.permutation(n)  # ties go by number, which must tell nothing
    costs = check_prices(prices, n)
    if costs is not None:
        options["prices"] = costs[place]
    labels = check_groups(groups, n)
    if labels is not None:
        options["groups"] = [labels[i] for i in place]
    selector = build_selector(algorithm, Problem(n, k, epsilon, delta, budget), **options)
    while not selector.stop():
        left = None if room is None else room[place] - selector.state.pulls
        counts = selector.ask(room=left, rng=rng)
        if not counts.any():
            break
        arms = np.repeat(np.arange(n), counts)
        rewards = np.array([asked(int(worker)) for worker in place[arms]], np.float64)
        if not scores and (rewards % 1).any():
            raise ProblemError("A reward lies between 0 and 1: say scores=True if it is a score.")
        selector.tell(arms, rewards)
    return _describe_end(selector, place, costs, scores)


def _deal(rewards: ArrayLike, rng: np.random.Generator) -> tuple[Answers, Counts]:
    """Return a function that deals each row in random order, and the (n,) lengths of the rows."""
    table = np.asarray(rewards, np.float64)
    if table.ndim != 2 or not ((table >= 0) & (table <= 1)).all():
        raise ProblemError(
            "answers must be a table of rewards from 0 to 1, a row for each worker, or a function."
        )
    rows = [iter(row) for row in rng.permuted(table, axis=1)]
    return lambda worker: float(next(rows[worker])), np.full(len(rows), table.shape[1])


def _describe_end(
    selector: Selector, place: Counts, costs: Floats | None, scores: bool
) -> Selected:
    def say(promise: Promise, epsilon: float | None = None) -> str:
        return (promise.of_scores() if scores else promise).sentence(problem, epsilon)

    complete = PROMISE_KEPT in selector.stop()
    problem, pulls = selector.problem, np.empty_like(selector.state.pulls)
    pulls[place] = selector.state.pulls
    arms, guarantee = selector.selection(), say(selector.promise)
    if not complete:
        early = select_early(selector)
        arms, guarantee = early.arms, NOTHING
        if early.epsilon is not None:
            guarantee = say(early.promise, rounded_up(early.epsilon))
    return Selected(
        workers=np.sort(place[arms]),
        guarantee=guarantee,
        answers=pulls,
        cost=float(pulls.sum() if costs is None else pulls @ costs),
        complete=complete,
    )
