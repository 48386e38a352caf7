"""What would have come of it: a recorded crowd replayed over many seeds, by several algorithms."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.runs import algorithm_choices
from topk import PROMISE_KEPT

from .arrays import PlayedRun, RecordedAnswers, play_record
from .crowd import RecordedCrowd
from .replay import ReplaySettings, check_replay

BAND = 0.8
SEEDS = 20

ABOUT = """\
answers   median, and between which four runs of five lie
kept      runs that ended with the promise they were started with
untrue    runs whose promise at their end, for the ε of the end, is not true by all recorded answers
ε at end  that is promised then: median, and the largest
loss      what the mean of the selected really lacks of that of the best: mean, and the largest
"""
HEADS = ("algorithm", "promises", "answers", "80 % of runs", "kept", "untrue", "ε at end", "loss")


@dataclass(frozen=True)
class WhatIfRow:
    """An algorithm over all seeds.

    promises  its goal; perhaps only on average over pools, or on this question set
    answers   median of all runs; low and high: four of five lie between
    kept      runs that ended with the promise they were started with
    untrue    runs whose promise at the end was not true by the recorded accuracies
    epsilon   at the end, median, and epsilon_most the largest; None: nothing is promised
    loss      mean accuracy of the best k less that of the selected: mean, and loss_most the largest
    doubts    sentences on what makes the promise doubtful, by the number of runs that have them
    plays     one a seed
    """

    algorithm: str
    promises: str
    options: dict[str, Any]
    seeds: int
    low: int
    answers: int
    high: int
    kept: int
    untrue: int
    epsilon: float | None
    epsilon_most: float | None
    loss: float
    loss_most: float
    doubts: Mapping[str, int]
    plays: Sequence[PlayedRun]

    def flat(self) -> dict[str, Any]:
        """For a line of a table."""
        numbers = asdict(replace(self, plays=()))
        del numbers["plays"]
        options = "; ".join(f"{name}={value}" for name, value in self.options.items())
        return numbers | {"options": options, "doubts": " ".join(self.doubts)}

    def as_numbers(self) -> dict[str, Any]:
        """For a program."""
        numbers = asdict(replace(self, plays=()))
        del numbers["low"], numbers["high"]
        return numbers | {
            "answers": [self.low, self.answers, self.high],
            "plays": [
                {
                    "seed": one.seed,
                    "answers": one.answers,
                    "ending": one.ending,
                    "epsilon": one.epsilon,
                    "loss": one.regrets.aggregate,
                    "loss_of_worst": one.regrets.explore_k,
                    "true": one.true,
                }
                for one in self.plays
            ],
        }


def settings_per_algorithm(usual: ReplaySettings, names: Sequence[str]) -> list[ReplaySettings]:
    """The same settings for each of these algorithms, with those of the options that it knows.

    Raises Refused for an option that none of them has.
    """
    known = {name: {option.name for option in algorithms.algorithm_options(name)} for name in names}
    for option in usual.options:
        if not any(option in own for own in known.values()):
            raise Refused(f"None of {', '.join(names)} has an option {option}.")
    own = ({o: v for o, v in usual.options.items() if o in known[name]} for name in names)
    return [
        replace(usual, algorithm=name, options=options)
        for name, options in zip(names, own, strict=True)
    ]


def play_all(
    crowd: RecordedCrowd,
    asked: Sequence[ReplaySettings],
    seeds: Sequence[int],
    told: Callable[[], object],
) -> Iterator[WhatIfRow]:
    """A row for each; ``told`` hears of every play. Raises Refused before any for what cannot be.

    The same seed deals the same answers in the same order to all.
    """
    for one in asked:
        check_replay(crowd, one)
    record = RecordedAnswers(crowd)
    for one in asked:
        plays = []
        for seed in seeds:
            plays.append(play_record(record, replace(one, seed=seed)))
            told()
        yield build_row(one, plays)


def build_row(one: ReplaySettings, plays: Sequence[PlayedRun]) -> WhatIfRow:
    tails = [(1 - BAND) / 2, 0.5, (1 + BAND) / 2]
    low, median, high = np.quantile([each.answers for each in plays], tails).round().astype(int)
    epsilons = np.array([1.0 if each.epsilon is None else each.epsilon for each in plays])
    losses = [round(each.regrets.aggregate, 6) for each in plays]
    promise = ALGORITHMS[one.algorithm].promise
    goal = "nothing" if promise.fixed == "budget" else promise.goal.value
    return WhatIfRow(
        algorithm=one.algorithm,
        promises=", ".join([goal, *(["on average"] if promise.average else []), *_row_doubts(one)]),
        options=one.options,
        seeds=len(plays),
        low=int(low),
        answers=int(median),
        high=int(high),
        kept=sum(each.ending == PROMISE_KEPT and each.epsilon is not None for each in plays),
        untrue=sum(each.true is False for each in plays),
        epsilon=_round_epsilon(np.median(epsilons)),
        epsilon_most=_round_epsilon(epsilons.max()),
        loss=round(float(np.mean(losses)), 6),
        loss_most=max(losses),
        doubts=_count_doubts(doubt for each in plays for doubt in each.doubts),
        plays=plays,
    )


def _row_doubts(one: ReplaySettings) -> list[str]:
    said = algorithms.describe_variant(algorithm_choices.read_options(one.algorithm, one.options))
    return [said] if said else []


def _count_doubts(doubts: Iterable[str]) -> Counter[str]:
    """How often each was said; what differs in numbers alone is the first of its kind."""
    first: dict[str, str] = {}
    return Counter(first.setdefault(re.sub(r"\d[\d,.]*", "", said), said) for said in doubts)


def _round_epsilon(value: float) -> float | None:
    return None if value >= 1 else round(float(value), 4)


# -- for people


def describe_rows(
    crowd: RecordedCrowd, usual: ReplaySettings, rows: Sequence[WhatIfRow]
) -> list[str]:
    """The table, what is in it, and what speaks against it."""
    used = "drawn again and again" if usual.redraw else "each used once"
    budget = "" if usual.budget is None else f", at most {usual.budget:,} answers"
    head = (
        f"{len(crowd.workers):,} workers, the best {usual.k} wanted, ε = {usual.epsilon:g}, "
        f"δ = {usual.delta:g}{budget}; {len(crowd.answers):,} recorded answers, {used}; "
        f"{rows[0].seeds} seeds from {rows[0].plays[0].seed}."
    )
    return [
        head,
        "",
        *_align_table([HEADS, *map(_row_cells, rows)]),
        "",
        *ABOUT.splitlines(),
        *_list_doubts(rows),
    ]


def _row_cells(row: WhatIfRow) -> tuple[str, ...]:
    return (
        row.algorithm,
        row.promises,
        f"{row.answers:,}",
        f"{row.low:,} to {row.high:,}",
        f"{row.kept} of {row.seeds}",
        str(row.untrue) if any(one.epsilon is not None for one in row.plays) else "",
        f"{_format_epsilon(row.epsilon)}, {_format_epsilon(row.epsilon_most)}",
        f"{row.loss:.4f}, {row.loss_most:.4f}",
    )


def _format_epsilon(epsilon: float | None) -> str:
    return "nothing" if epsilon is None else f"{epsilon:g}"


def _align_table(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _list_doubts(rows: Sequence[WhatIfRow]) -> list[str]:
    return [
        f"Mind: {row.algorithm}, {count} of {row.seeds} runs: {doubt}"
        for row in rows
        for doubt, count in row.doubts.items()
    ]
