"""python -m research validate|reproduce: they play, they tell, and an interrupted one goes on."""

import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from tqdm import tqdm

from selection.errors import Refused

from . import options, processes, workers
from .cells import carry_out
from .papers import command as reproduce
from .validation import command as validate

COMMANDS = {"validate": validate, "reproduce": reproduce}
GOES_ON = "An interrupted one goes on when the same command is given again."


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the status to exit with: 0, 2 if refused, 130 if interrupted."""
    asked = build_parser().parse_args(arguments)
    try:
        _play_study(asked)
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
    made = ArgumentParser("python -m research", description="Measure algorithms. " + GOES_ON)
    commands = made.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        one = commands.add_parser(
            name,
            help=command.HELP,
            description=f"{command.HELP.capitalize()}. {GOES_ON}",
            parents=[options.shared_options()],
        )
        command.add_options(one)
        one.set_defaults(study=command.build_study)
    return made


def _play_study(asked: Namespace) -> None:
    study = asked.study(asked)
    player = workers.play_on_celery if asked.celery else processes.make_player(asked.processes)
    with tqdm(total=len(study.cells), unit=" cells", disable=asked.quiet) as bar:

        def told(more: int, title: str) -> None:
            bar.set_description(title, refresh=False)
            bar.update(more)

        said = carry_out(study, player, told)
    if not asked.quiet:
        sys.stdout.write("\n".join([*said, ""]))


def _print_failure(why: str, status: int) -> int:
    sys.stderr.write(f"{why}\n")
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no orphans stay behind
    sys.exit(main())
