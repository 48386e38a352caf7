"""Measurements of the algorithms: ``python -m research COMMAND``."""

import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from tqdm import tqdm

from selection.errors import Refused

from . import model_replays, options, processes, same_questions
from .cells import carry_out
from .papers import command as reproduce
from .validation import command as validate

COMMANDS = {
    "validate": validate,
    "reproduce": reproduce,
    "models": model_replays,
    "same-questions": same_questions,
}
RESUMED = "An interrupted measurement goes on when the same command is given again."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 2 if refused, 130 if interrupted."""
    choices = build_parser().parse_args(arguments)
    try:
        _play_study(choices)
    except Refused as refusal:
        return _print_failure(str(refusal), 2)
    except OSError as error:
        return _print_failure(
            f"{error.filename}: {error.strerror}." if error.filename else str(error), 2
        )
    except KeyboardInterrupt:
        why = "Interrupted; what was finished is kept, and the same command goes on from there."
        return _print_failure(why, 130)
    return 0


def build_parser() -> ArgumentParser:
    parser = ArgumentParser("python -m research", description=f"Measure algorithms. {RESUMED}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name,
            help=command.HELP,
            description=f"{command.HELP.capitalize()}. {RESUMED}",
            parents=[options.shared_options()],
        )
        command.add_options(subparser)
        subparser.set_defaults(study=command.build_study)
    return parser


def _play_study(asked: Namespace) -> None:
    study = asked.study(asked)
    player = processes.make_player(asked.processes)
    with tqdm(total=len(study.cells), unit=" cells", disable=asked.quiet) as bar:

        def advance(cells: int, title: str) -> None:
            bar.set_description(title, refresh=False)
            bar.update(cells)

        summary = carry_out(study, player, advance)
    if not asked.quiet:
        sys.stdout.write("\n".join([*summary, ""]))


def _print_failure(why: str, status: int) -> int:
    sys.stderr.write(f"{why}\n")
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: ends all processes
    sys.exit(main())
