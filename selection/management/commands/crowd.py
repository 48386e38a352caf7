"""``manage.py crowd``: let a simulated crowd take part in a run on a running server."""

import os
import time
from argparse import ArgumentTypeError
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection.errors import Refused
from selection.imports import row_parsers
from selection.management.lookups import report_refusals
from selection.replays.crowd import read_crowd
from selection.simulation import crowd, players
from selection.simulation.crowd import Crowd, SyntheticCrowd
from selection.simulation.server import ServerConnection

SAY_SECONDS = 5.0
TOKEN = "CROWD_TOKEN"  # nosec B105: the name of a variable


def parse_amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError("must be a number from 0 up")
    return value


def parse_count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ArgumentTypeError("must be a whole number from 1 up")
    return value


class Command(BaseCommand):
    help = "Play a crowd against a running server through its HTTP API, until the run has ended."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--url", required=True, help="where the server is, such as http://127.0.0.1:8000")
        add("--token", help=f"API token; without it, the environment's {TOKEN}")
        add("--run", type=int, required=True, help="id of the run")
        add("--answers", type=Path, help="CSV with worker,task,label: what each worker answers")
        add("--synthetic", type=parse_count, metavar="N", help="make up workers w1 to wN instead")
        add("--gold", type=Path, required=True, help="CSV with task,label: the known answers")
        add(
            "--rate",
            type=parse_amount,
            default=60.0,
            help="answers a second; 0: as many as will go",
        )
        add(
            "--think",
            type=parse_amount,
            default=0.25,
            help="seconds of thought a question, in the mean",
        )
        add("--concurrency", type=parse_count, default=4, help="clients that answer at once")
        add("--seed", type=int, default=0, help="of the workers made up and of their thinking")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            count = self._simulate_crowd(options)
        self._print_line(f"The run has ended. {count:,} answers were taken.")

    def _simulate_crowd(self, options: dict[str, Any]) -> int:
        token = options["token"] or os.environ.get(TOKEN, "")
        if not token:
            raise Refused(f"Name an API token with --token or in {TOKEN}.")
        return players.play_crowd(
            partial(ServerConnection, options["url"], token, options["run"]),
            crowd_of(options),
            players.CrowdPace(options["rate"], options["think"], options["concurrency"]),
            options["seed"],
            Reporter(self._print_line),
        )

    def _print_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def crowd_of(options: dict[str, Any]) -> Crowd:
    if (options["answers"] is None) == (options["synthetic"] is None):
        raise Refused("Name either a file of recorded --answers or --synthetic N.")
    if options["answers"]:
        return read_crowd(options["answers"], options["gold"])
    gold = row_parsers.parse_gold(row_parsers.read_path(options["gold"]), str(options["gold"]))
    accuracy = crowd.draw_accuracies(options["synthetic"], options["seed"])
    return SyntheticCrowd(accuracy, gold, options["seed"])


class Reporter:
    """Callback that prints a line of progress now and then."""

    def __init__(self, say: Any) -> None:
        self.say, self.started, self.last = say, time.monotonic(), float("-inf")

    def __call__(self, run: dict[str, Any], taken: int) -> None:
        now = time.monotonic()
        if now - self.last < SAY_SECONDS:
            return
        self.last, progress = now, run["progress"]
        self.say(
            f"{run['name']} ({run['status']}): {taken:,} answers taken, "
            f"{taken / max(now - self.started, 1):.0f} a second; "
            f"{progress['accepted']} accepted, {progress['rejected']} rejected, "
            f"{progress['undecided']} undecided, {progress['not_tested']} not tested"
        )
