"""``manage.py crowd``: let a simulated crowd take part in a run on a running server."""

import os
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from crowdselect_client import ApiError, Client, Run
from selection.errors import Refused
from selection.imports import row_parsers
from selection.imports.keyed_answers import File, read_key
from selection.management.lookups import report_refusals
from selection.simulation.crowd import SyntheticCrowd, draw_accuracies
from selection.texts import counted

SAY_SECONDS = 5.0
TRIES = 10  # of a request: a server that is being restarted is back within two minutes
TOKEN = "CROWD_TOKEN"


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
        add(
            "--synthetic",
            type=parse_count,
            required=True,
            metavar="N",
            help="how many workers answer: w1 to wN",
        )
        add("--gold", type=Path, required=True, help="CSV with task,label: the known answers")
        add("--seed", type=int, default=0, help="of the workers' accuracies and answers")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            count = self._simulate_crowd(options)
        self._print_line(f"The run has ended. {counted(count, 'answer', 'were')} taken.")

    def _simulate_crowd(self, options: dict[str, Any]) -> int:
        token, seed = options["token"] or os.environ.get(TOKEN, ""), options["seed"]
        if not token:
            raise Refused(f"Name an API token with --token or in {TOKEN}.")
        key = read_key(File(str(options["gold"]), row_parsers.read_path(options["gold"])))
        gold = {task: question.accepted[0] for task, question in key.items()}
        crowd = SyntheticCrowd(draw_accuracies(options["synthetic"], seed), gold, seed)
        try:
            client = Client(options["url"], token, tries=TRIES)
        except ValueError as error:
            raise Refused(str(error)) from error
        with client:
            return play_crowd(client.run(options["run"]), crowd, Reporter(self._print_line))

    def _print_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


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
            f"{run['name']} ({run['status']}): {counted(taken, 'answer')} taken, "
            f"{taken / max(now - self.started, 1):.0f} a second; "
            f"{progress['accepted']} accepted, {progress['rejected']} rejected, "
            f"{progress['undecided']} undecided, {progress['not_tested']} not tested"
        )


# -- playing


LOOK_SECONDS = 1.0
MOST_ANSWERS = 60  # between two looks: a dashboard shows the run moving


def play_crowd(
    run: Run, crowd: SyntheticCrowd, on_progress: Callable[[dict[str, Any], int], object]
) -> int:
    """Answer until the run has ended. Return the number of accepted answers.

    on_progress  called about once a second with the state of the run and the number of accepted
                 answers

    Raises Refused when the server refuses, or does not answer for long.
    """
    count = 0
    try:
        while (state := dict(run.show()))["status"] != "ended":
            on_progress(state, count)
            answers = [
                (one["id"], response)
                for one in run.open()
                if (response := crowd.respond(one["worker"], one["question"], one["choices"]))
            ]
            results = run.tell_many(answers[:MOST_ANSWERS])
            count += sum(result["status"] == 201 for result in results)
            time.sleep(LOOK_SECONDS)
    except ApiError as error:
        raise Refused(error.sentence) from error
    return count
