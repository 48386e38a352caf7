"""The result of a replay: the answers that each method needed, and the workers it selected."""

from dataclasses import asdict, dataclass
from statistics import mean
from typing import Annotated, Any

import numpy as np

from selection.algorithms import ALGORITHMS
from selection.texts import count_noun
from selection.viewer_locale import format_count
from topk import GUARANTEE_KEPT

from .models import Replay
from .plays import AIM, OURS, REACH, plays_of

BAND = 0.8


@dataclass(frozen=True)
class MethodResult:
    """A method on the past answers, played with several orders of the questions.

    The play with the median number of answers is its result.

    cost   of the answers, by the prices of models if they gave them; None without a price
    plays  (answers, loss, stopped by itself, guarantee not true) of each play
    """

    algorithm: str
    title: str
    ours: Annotated[bool, "False for a published method."]
    average: Annotated[bool, "True if the guarantee is on average over pools."]
    runs: Annotated[int, "Plays so far."]
    enough: Annotated[bool, "True if the method stopped by itself in most plays."]
    answers: int
    low: Annotated[int, "Four plays of five are between low and high."]
    high: int
    share: Annotated[float, "Share of all answers."]
    cost: float | None
    tokens: Annotated[int | None, "Tokens of the calls of models; null if unknown."]
    selected: list[str]
    loss: Annotated[float, "Mean accuracy of the best K less the mean accuracy of the selection."]
    loss_mean: Annotated[float, "Mean of `loss` over all plays."]
    epsilon: Annotated[float | None, "The guaranteed ε at the end; null: no guarantee."]
    reach: Annotated[float | None, "The ε that all answers of the budget would guarantee."]
    reach_answers: Annotated[int | None, "Answers used for `reach`; null: not played yet."]
    untrue: Annotated[int, "Plays with a guarantee that is false by all answers."]
    doubts: list[str]
    plays: list[tuple[int, float, bool, bool]]


@dataclass(frozen=True)
class WorkerResult:
    """One of the best K by all answers, or a worker that a method selects."""

    worker: str
    right: Annotated[float, "Right answers, or the sum of scores."]
    answers: int
    accuracy: Annotated[float, "Share of right answers, or the mean score."]
    best: bool
    methods: Annotated[list[str], "Algorithms that select the worker."]


@dataclass(frozen=True)
class ReplayResult:
    """All numbers of a replay.

    headline  the answer in one sentence; empty while there are no numbers
    enough    the method that needed the fewest answers, of ours (or those chosen) that stopped by
              themselves; or None
    refused   reason of each method that cannot be run on these answers
    cost      of all answers; None without a price
    tokens    of all answers; None if unknown
    """

    headline: str
    methods: list[MethodResult]
    workers: list[WorkerResult]
    refused: dict[str, str]
    enough: MethodResult | None
    answers: int
    cost: float | None
    tokens: int | None

    def serialize(self) -> dict[str, Any]:
        return asdict(self) | {"enough": self.enough and self.enough.answers}


def build_result(replay: Replay) -> ReplayResult:
    answers = replay.facts.get("answers", 0)
    price = replay.goal.get("price")
    names = dict.fromkeys(one["algorithm"] for one in replay.plays)
    methods = [row for name in names if (row := _method_result(replay, name, answers, price))]
    chosen = bool(replay.goal.get("algorithms"))
    ending = [row for row in methods if row.enough and (row.ours or chosen)]
    enough = min(ending, key=lambda row: row.answers, default=None)
    return ReplayResult(
        headline=_write_headline(replay, enough) if methods else "",
        methods=methods,
        workers=_worker_results(replay, methods) if methods else [],
        refused={p["algorithm"]: p["refused"] for p in replay.plays if "refused" in p},
        enough=enough,
        answers=answers,
        cost=_cost_of_all(replay, price),
        tokens=_tokens_of_all(replay),
    )


def _write_headline(replay: Replay, enough: MethodResult | None) -> str:
    total = replay.facts["answers"]
    if replay.goal.get("redraw"):
        drawn = f"nswers drawn with replacement from {format_count(total)}"
        count = enough and format_count(enough.answers)
        return f"{count} a{drawn} would have been enough" if count else f"A{drawn} were not enough"
    if enough is None:
        return f"All {count_noun(total, 'answer')} were not enough"
    return f"{format_count(enough.answers)} of {count_noun(total, 'answer')} would have been enough"


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
        average=ALGORITHMS[name].guarantee.average,
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
    return played["ending"] == GUARANTEE_KEPT and played["epsilon"] is not None


def _best_guarantee(played: list[dict[str, Any]]) -> float | None:
    """Find the least guaranteed loss: a run that goes on may also end with a weaker one."""
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
    """List the best K by all answers and all workers that a method selects, best first."""
    order = sorted(replay.tallies, key=lambda tally: tally[1] / tally[2], reverse=True)
    best = {worker for worker, _, _ in order[: replay.goal["k"]]}
    selected = {worker for row in methods for worker in row.selected}
    return [
        WorkerResult(
            worker=worker,
            right=hits,
            answers=answers,
            accuracy=round(hits / answers, 4),
            best=worker in best,
            methods=[row.algorithm for row in methods if worker in row.selected],
        )
        for worker, hits, answers in order
        if worker in best | selected
    ]
