"""The result of a replay: lines for people, a table and a document for programs."""

from dataclasses import asdict
from typing import Any

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.exports import ExportTable
from selection.facts import Facts
from selection.models import Replay
from selection.replays.result_texts import result_context
from selection.replays.results import ReplayResult, build_result

HEADS = ("method", "guarantees", "answers", "80 % of orders", "below the best", "mean", "end")


def describe_replay(replay: Replay, result: ReplayResult) -> list[str]:
    context = result_context(replay, result)
    variant = algorithms.describe_variant(replay.wanted.get("options", {}))
    texts = [*context["ours"], *context["others"]]
    rows = [HEADS, *(_method_cells(text, variant) for text in texts)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in rows)
    return [
        f"{result.headline}. Target: {context['goal']}.",
        *filter(None, [context["left_out"]]),
        "",
        *("  ".join(cells).rstrip() for cells in padded),
        "",
        *(f"{row.title} selects: {', '.join(row.selected)}" for row in result.methods),
        *(f"Not run: {name}: {reason}" for name, reason in result.refused.items()),
        *(f"Mind: {row.title}: {doubt}" for row in result.methods for doubt in row.doubts),
    ]


def _method_cells(text: Facts, variant: str) -> tuple[str, ...]:
    name, band = text.row.algorithm, text.band or text.answers
    promise = ALGORITHMS[name].promise
    goal = "nothing" if promise.fixed == "budget" else promise.goal.value
    goal += ", on average" if promise.average else ""
    goal += f", {variant}" if variant and ALGORITHMS[name].says_accuracy else ""
    return (name, goal, text.answers, band, text.below, text.below_mean, text.holds)


def replay_document(replay: Replay) -> dict[str, Any]:
    """Return the facts and the result as the API has them, with the settings."""
    result = build_result(replay).serialize()
    settings = {"name": replay.name, "wanted": replay.wanted}
    return settings | {"facts": replay.facts, "result": result}


def method_table(result: ReplayResult) -> ExportTable:
    rows = [asdict(row) | {"refused": ""} for row in result.methods]
    columns = [name for name in rows[0] if name != "plays"]
    rows += [{"algorithm": name, "refused": why} for name, why in result.refused.items()]
    return ExportTable(
        columns, [[_flat_cell(row.get(name, "")) for name in columns] for row in rows]
    )


def _flat_cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, list) else value
