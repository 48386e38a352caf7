"""The result of a replay: the answers that each method needed, and the workers it selected."""

from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np

from selection.algorithms import ALGORITHMS
from selection.models import Replay
from selection.viewer_locale import format_count
from topk import PROMISE_KEPT

from .plays import AIM, METHODS, OURS, REACH, plays_of
from .what_if import BAND


@dataclass(frozen=True)
class MethodResult:
    """A method on the past answers. The play with the median number of answers is its result.

    ours       False for published methods
    average    True if its guarantee holds on average over pools, not for each pool
    runs       number of replays, each with another order of the questions
    enough     True if it stopped by itself in most replays
    answers    of the median replay; low and high: four of five are between
    share      of all answers
    cost       of the answers, by the prices of models if they gave them; None without a price
    tokens     of the answers' calls; None without models, or if no call has told its tokens
    selected   workers that the median replay selects
    loss       mean accuracy of the best K less that of the selected, by all answers
    loss_mean  the same, mean of all replays
    epsilon    guaranteed at the end of the median replay; None: nothing
    reach      the same if all answers of the budget are used; None if unknown or nothing
    reach_answers  the answers used for it; None until it is played
    untrue     replays with a guarantee that is not true by all answers
    doubts     sentences on doubts about the guarantee
    plays      (answers, loss, stopped by itself, guarantee not true) of each replay
    """

    algorithm: str
    title: str
    ours: bool
    average: bool
    runs: int
    enough: bool
    answers: int
    low: int
    high: int
    share: float
    cost: float | None
    tokens: int | None
    selected: list[str]
    loss: float
    loss_mean: float
    epsilon: float | None
    reach: float | None
    reach_answers: int | None
    untrue: int
    doubts: list[str]
    plays: list[tuple[int, float, bool, bool]]


@dataclass(frozen=True)
class WorkerResult:
    """A worker that a method selects, or one of the best K.

    accuracy  share of right answers of all, or the mean score
    best      True if among the best K by all answers
    methods   methods that select them
    """

    worker: str
    right: float
    answers: int
    accuracy: float
    best: bool
    methods: list[str]


@dataclass(frozen=True)
class ReplayResult:
    """All numbers of a replay.

    enough   the method that needed the fewest answers, of ours that stopped by themselves; or None
    refused  reason of each method that cannot be run on these answers
    cost     of all answers; None without a price
    tokens   of all answers; None if unknown
    """

    methods: list[MethodResult]
    workers: list[WorkerResult]
    refused: dict[str, str]
    enough: MethodResult | None
    answers: int
    cost: float | None
    tokens: int | None

    @property
    def headline(self) -> str:
        """Return the answer in one sentence; empty while there are no numbers."""
        total = format_count(self.answers)
        if self.enough:
            were = "would have been enough"
            return f"{format_count(self.enough.answers)} of {total} answers {were}"
        return f"All {total} answers were not enough" if self.methods else ""

    def serialize(self) -> dict[str, Any]:
        """Return the result for a program."""
        return asdict(self) | {
            "headline": self.headline,
            "enough": self.enough and self.enough.answers,
        }


def build_result(replay: Replay) -> ReplayResult:
    """Return the result of the plays so far."""
    answers = replay.facts.get("answers", 0)
    price = replay.wanted.get("price")
    methods = [row for name in METHODS if (row := _method_result(replay, name, answers, price))]
    ending = [row for row in methods if row.ours and row.enough]
    return ReplayResult(
        methods=methods,
        workers=_worker_results(replay, methods) if methods else [],
        refused={p["algorithm"]: p["refused"] for p in replay.plays if "refused" in p},
        enough=min(ending, key=lambda row: row.answers, default=None),
        answers=answers,
        cost=_cost_of_all(replay, price),
        tokens=_tokens_of_all(replay),
    )


def _method_result(
    replay: Replay, name: str, answers: int, price: float | None
) -> MethodResult | None:
    played = sorted(plays_of(replay.plays, name, AIM), key=lambda one: one["answers"])
    if not played:
        return None
    counts = [one["answers"] for one in played]
    low, high = np.quantile(counts, [(1 - BAND) / 2, (1 + BAND) / 2]).round().astype(int)
    median = played[(len(played) - 1) // 2]
    reach = next(iter(plays_of(replay.plays, name, REACH)), None)
    return MethodResult(
        algorithm=name,
        title=ALGORITHMS[name].title,
        ours=name in OURS,
        average=ALGORITHMS[name].promise.average,
        runs=len(played),
        enough=2 * sum(map(_stopped_by_itself, played)) > len(played),
        answers=median["answers"],
        low=int(low),
        high=int(high),
        share=round(median["answers"] / answers, 4),
        cost=median["cost"] if "cost" in median else _cost(median["answers"], price),
        tokens=round(median["tokens"]) if "tokens" in median else None,
        selected=median["selected"],
        loss=median["loss"],
        loss_mean=round(mean(one["loss"] for one in played), 6),
        epsilon=_bounded(median["epsilon"]),
        reach=_best_guarantee([reach, *played]) if reach else None,
        reach_answers=reach["answers"] if reach else None,
        untrue=sum(one["true"] is False for one in played),
        doubts=list(dict.fromkeys(median["doubts"])),
        plays=[
            (one["answers"], one["loss"], _stopped_by_itself(one), one["true"] is False)
            for one in played
        ],
    )


def _stopped_by_itself(played: dict[str, Any]) -> bool:
    return played["ending"] == PROMISE_KEPT and played["epsilon"] is not None


def _best_guarantee(played: list[dict[str, Any]]) -> float | None:
    """Return the least guaranteed loss: a run that goes on may also end with a weaker one."""
    bounds = [_bounded(one["epsilon"]) for one in played]
    return min((bound for bound in bounds if bound is not None), default=None)


def _bounded(epsilon: float | None) -> float | None:
    """Return a guarantee; None for one that says nothing."""
    return None if epsilon is None or epsilon >= 1 else round(epsilon, 4)


def _cost(answers: int, price: float | None) -> float | None:
    return None if price is None else round(answers * price, 2)


def _cost_of_all(replay: Replay, price: float | None) -> float | None:
    prices: dict[str, float] = replay.facts.get("prices", {})
    if prices:
        total: float = sum(prices[worker] * count for worker, _, count in replay.tallies)
        return round(total, 9)
    return _cost(replay.facts.get("answers", 0), price)


def _tokens_of_all(replay: Replay) -> int | None:
    tokens: dict[str, float] = replay.facts.get("tokens", {})
    if not tokens:
        return None
    total: float = sum(tokens[worker] * count for worker, _, count in replay.tallies)
    return round(total)


def _worker_results(replay: Replay, methods: list[MethodResult]) -> list[WorkerResult]:
    """Return the best K by all answers and all workers that a method selects, best first."""
    order = sorted(replay.tallies, key=lambda tally: tally[1] / tally[2], reverse=True)
    best = {worker for worker, _, _ in order[: replay.wanted["k"]]}
    selected = {worker for row in methods for worker in row.selected}
    return [
        WorkerResult(
            worker=worker,
            right=right,
            answers=answers,
            accuracy=round(right / answers, 4),
            best=worker in best,
            methods=[row.algorithm for row in methods if worker in row.selected],
        )
        for worker, right, answers in order
        if worker in best | selected
    ]
