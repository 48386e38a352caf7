"""The command line: ``crowdselect``, ``python -m crowdselect`` and ``manage.py`` are the same.

``crowdselect run`` starts the application. All other words are commands of Django and of ours; so
is ``run`` before a word: ``crowdselect run status 12``.
"""

import argparse
import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from crowdselect.environment import exit_with_sentence
from selection import actor


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
    name = Path(sys.argv[0]).name.replace("__main__.py", "crowdselect")  # as usage is shown
    words = [name, *choose_data_folder(sys.argv[1:])]
    if words[1:2] == ["run"] and all(word.startswith("-") for word in words[2:3]):
        words[1] = "launch"
    try:
        with actor.acting_as_command(words), exit_with_sentence():
            execute_from_command_line(words)
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells of Ctrl-C, without the place where it hit


def choose_data_folder(words: list[str]) -> list[str]:
    """Take ``--data FOLDER`` out of the words, before the settings are read, and create it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    options, others = parser.parse_known_args(words)
    if options.data is not None:
        try:
            options.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            sys.exit(f"--data {options.data}: {(error.strerror or str(error)).lower()}.")
        os.environ["CROWDSELECT_DATA"] = str(options.data.resolve())
    return others


if __name__ == "__main__":
    main()
