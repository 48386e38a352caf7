"""``manage.py replay``: how many of the past answers in a file each method would have needed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser
from tqdm import tqdm

from selection import algorithms, exports
from selection.errors import Refused
from selection.management.lookups import parse_pairs, report_refusals
from selection.management.replay_table import describe_replay, method_table, replay_document
from selection.models import Replay
from selection.replays import crowd, plays, replay_requests, results
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
