"""Comparison of algorithms on a recorded crowd, replayed over many seeds."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.exports import ExportTable
from selection.runs import algorithm_choices
from selection.texts import counted
from topk import PROMISE_KEPT

from .arrays import PlayedRun, RecordedAnswers, play_record
from .crowd import RecordedCrowd
from .settings import ReplaySettings, check_replay

BAND = 0.8
SEEDS = 20

ABOUT = """\
answers   median, and the range of four runs of five
kept      runs that ended with the guarantee of their start
untrue    runs with a guarantee at the end, for the ε of the end, that is false by all answers
ε at end  guaranteed at the end: median, and the largest
loss      mean accuracy of the best K less mean accuracy of the selection: mean, and the largest
"""
HEADS = ("algorithm", "promises", "answers", "80 % of runs", "kept", "untrue", "ε at end", "loss")


@dataclass(frozen=True)
class WhatIfRow:
    """An algorithm over all seeds.

    promises  its goal; perhaps only on average over pools, or on this question set
    answers   median of all runs; low and high: four of five are between
    kept      runs that ended with the guarantee they were started with
    untrue    runs whose guarantee at the end was not true by the recorded accuracies
    epsilon   at the end, median, and epsilon_most the largest; None: nothing is guaranteed
    loss      mean accuracy of the best k less that of the selected: mean, and loss_most the largest
    doubts    sentences on doubts about the guarantee, by the number of runs that have them
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

    def serialize(self) -> dict[str, Any]:
        """Return the row for a program."""
        numbers = asdict(replace(self, plays=()))
        del numbers["low"], numbers["high"]
        return numbers | {
            "answers": [self.low, self.answers, self.high],
            "plays": [
                {
                    "seed": play.seed,
                    "answers": play.answers,
                    "ending": play.ending,
                    "epsilon": play.epsilon,
                    "loss": play.regrets.aggregate,
                    "loss_of_worst": play.regrets.explore_k,
                    "true": play.true,
                }
                for play in self.plays
            ],
        }


def flat_table(rows: Sequence[WhatIfRow]) -> ExportTable:
    """Return the rows as a table, with a cell for all options and one for all doubts."""
    columns = [field.name for field in fields(WhatIfRow) if field.name != "plays"]
    return ExportTable(columns, [[_flat_cell(getattr(row, c)) for c in columns] for row in rows])


def _flat_cell(value: Any) -> Any:
    if isinstance(value, Counter):
        return " ".join(value)
    return "; ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else value


def settings_per_algorithm(usual: ReplaySettings, names: Sequence[str]) -> list[ReplaySettings]:
    """Return the same settings for each of these algorithms, with the options that it takes.

    Raises Refused for an option that none of them has.
    """
    options_of = {
        name: {option.name for option in algorithms.algorithm_options(name)} for name in names
    }
    for option in usual.options:
        if not any(option in option_sets for option_sets in options_of.values()):
            raise Refused(f"No algorithm of {', '.join(names)} has an option {option}.")
    option_sets = (
        {o: v for o, v in usual.options.items() if o in options_of[name]} for name in names
    )
    return [
        replace(usual, algorithm=name, options=options)
        for name, options in zip(names, option_sets, strict=True)
    ]


def play_all(
    crowd: RecordedCrowd,
    variants: Sequence[ReplaySettings],
    seeds: Sequence[int],
    on_play: Callable[[], object],
) -> Iterator[WhatIfRow]:
    """Yield a row for each variant. Raises Refused before the first play for invalid settings.

    on_play  called after every play

    The same seed deals the same answers in the same order to all.
    """
    for settings in variants:
        check_replay(crowd, settings)
    record = RecordedAnswers(crowd)
    for settings in variants:
        plays = []
        for seed in seeds:
            plays.append(play_record(record, replace(settings, seed=seed)))
            on_play()
        yield build_row(settings, plays)


def build_row(settings: ReplaySettings, plays: Sequence[PlayedRun]) -> WhatIfRow:
    tails = [(1 - BAND) / 2, 0.5, (1 + BAND) / 2]
    low, median, high = np.quantile([play.answers for play in plays], tails).round().astype(int)
    epsilons = np.array([1.0 if play.epsilon is None else play.epsilon for play in plays])
    losses = [round(play.regrets.aggregate, 6) for play in plays]
    promise = ALGORITHMS[settings.algorithm].promise
    goal = "nothing" if promise.fixed == "budget" else promise.goal.value
    return WhatIfRow(
        algorithm=settings.algorithm,
        promises=", ".join(
            [goal, *(["on average"] if promise.average else []), *_row_doubts(settings)]
        ),
        options=settings.options,
        seeds=len(plays),
        low=int(low),
        answers=int(median),
        high=int(high),
        kept=sum(play.ending == PROMISE_KEPT and play.epsilon is not None for play in plays),
        untrue=sum(play.true is False for play in plays),
        epsilon=_round_epsilon(np.median(epsilons)),
        epsilon_most=_round_epsilon(epsilons.max()),
        loss=round(float(np.mean(losses)), 6),
        loss_most=max(losses),
        doubts=_count_doubts(doubt for play in plays for doubt in play.doubts),
        plays=plays,
    )


def _row_doubts(settings: ReplaySettings) -> list[str]:
    variant = algorithms.describe_variant(
        algorithm_choices.read_options(settings.algorithm, settings.options)
    )
    return [variant] if variant else []


def _count_doubts(doubts: Iterable[str]) -> Counter[str]:
    """Count the doubts; those that differ in numbers alone count as the first of them."""
    first: dict[str, str] = {}
    return Counter(first.setdefault(re.sub(r"\d[\d,.]*", "", doubt), doubt) for doubt in doubts)


def _round_epsilon(value: float) -> float | None:
    return None if value >= 1 else round(float(value), 4)


# -- for people


def describe_rows(
    crowd: RecordedCrowd, usual: ReplaySettings, rows: Sequence[WhatIfRow]
) -> list[str]:
    """Return the lines of the table, its legend, and the doubts."""
    used = "drawn again and again" if usual.redraw else "each used once"
    budget = "" if usual.budget is None else f", at most {counted(usual.budget, 'answer')}"
    head = (
        f"{counted(len(crowd.workers), 'worker')}, the best {usual.k} wanted, ε = "
        f"{usual.epsilon:g}, "
        f"δ = {usual.delta:g}{budget}; {counted(len(crowd.answers), 'recorded answer')}, "
        f"{used}; "
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
        str(row.untrue) if any(play.epsilon is not None for play in row.plays) else "",
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
        f"Mind: {row.algorithm}, {count} of {counted(row.seeds, 'run')}: {doubt}"
        for row in rows
        for doubt, count in row.doubts.items()
    ]
