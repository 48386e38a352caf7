"""``manage.py replay``: how many of the past answers in a file each method would have needed."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser
from tqdm import tqdm

from crowdselect.past_answers import crowd, plays, replay_requests, results
from crowdselect.past_answers.models import Replay
from crowdselect.past_answers.result_texts import result_context
from crowdselect.past_answers.results import ReplayResult, build_result
from selection import algorithms, exports
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.exports import ExportTable
from selection.facts import Facts
from selection.management.lookups import parse_pairs, report_refusals
from selection.simulation.writing import check_out, write_csv, write_json, write_whole

ANSWERS = "file of answers, or results of a program that evaluates models: a file, or its folder"
WRITERS: dict[str, Callable[[Path, Replay], None]] = {
    ".csv": lambda path, replay: write_csv(path, method_table(results.build_result(replay))),
    ".json": lambda path, replay: write_json(path, replay_document(replay)),
}


class Command(BaseCommand):
    help = "Try methods on past answers, as the page “Try it on past answers” and the API do."

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--answers", type=Path, required=True, help=ANSWERS)
        add("--gold", type=Path, help="file of the known answers, if not in the file of answers")
        pick = "metric, variant or task of results of models; may be given again"
        add("--pick", action="append", default=[], metavar="NAME=VALUE", help=pick)
        add("--leave-out", action="store_true", help="leave out rows with an error")
        add("--k", type=int, required=True, help="how many workers to select")
        add("--epsilon", type=float, default=0.1, help="largest error (default: 0.1)")
        add("--delta", type=float, default=0.05, help="how often a larger one (default: 0.05)")
        add("--budget", type=int, help="most answers to use")
        names, usual = algorithms.algorithms_for_one_skill(), ", ".join(plays.METHODS)
        several = f"may be given again; one of {', '.join(names)} (default: {usual})"
        add("--algorithm", action="append", choices=names, metavar="NAME", help=several)
        option = "option of the methods that have it, see docs/algorithms.md; may be given again"
        add("--option", action="append", default=[], metavar="NAME=VALUE", help=option)
        orders = f"orders of the questions to play (default: {plays.SEEDS})"
        add("--seeds", type=int, default=plays.SEEDS, metavar="N", help=orders)
        drawn = "draw a worker's answers again and again, so that they never run out"
        add("--with-replacement", action="store_true", help=drawn)
        add("--json", action="store_true", help="print the result for programs")
        add("--out", type=Path, help="file for the result, .csv or .json")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals("Interrupted; nothing was written."):
            if options["out"]:
                check_out(options["out"], WRITERS)
            if options["seeds"] < 1:
                raise Refused(f"There must be at least 1 seed, not {options['seeds']}.")
            ways = {"picked": parse_pairs(options["pick"]), "leave_out": options["leave_out"]}
            answers = crowd.open_file(options["answers"], **ways)
            gold = crowd.open_file(options["gold"], **ways) if options["gold"] else None
            source, quiet = replay_requests.Source(answers, gold), not options["verbosity"]
            bar = partial(tqdm, unit=" plays", desc="replay", disable=quiet)
            replay = replay_requests.play_at_once(source, _build_wanted(options), bar)
            if options["out"]:
                writer = WRITERS[options["out"].suffix.lower()]
                write_whole(options["out"], lambda path: writer(path, replay))
            if options["json"]:
                self.stdout.write(exports.json_text(replay_document(replay)))
            elif not quiet:
                lines = describe_replay(replay, results.build_result(replay))
                self.stdout.write("\n".join(lines))


def _build_wanted(options: dict[str, Any]) -> dict[str, Any]:
    settings = {name: options[name] for name in ("k", "epsilon", "delta", "budget", "seeds")}
    return settings | {
        "algorithms": list(dict.fromkeys(options["algorithm"] or ())),
        "options": parse_pairs(options["option"]),
        "redraw": options["with_replacement"],
    }


# -- the table


HEADS = ("method", "guarantees", "answers", "80 % of orders", "below the best", "mean", "end")


def describe_replay(replay: Replay, result: ReplayResult) -> list[str]:
    context = result_context(replay, result)
    variant = algorithms.describe_variant(replay.goal.get("options", {}))
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
    guarantee = ALGORITHMS[name].guarantee
    goal = "nothing" if guarantee.fixed == "budget" else guarantee.goal.value
    goal += ", on average" if guarantee.average else ""
    goal += f", {variant}" if variant and ALGORITHMS[name].says_accuracy else ""
    return (name, goal, text.answers, band, text.below, text.below_mean, text.holds)


def replay_document(replay: Replay) -> dict[str, Any]:
    """Return the facts and the result as the API has them, with the settings."""
    result = build_result(replay).serialize()
    settings = {"name": replay.name, "wanted": replay.goal}
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
