"""Run a command of ``manage.py`` and print its peak of MB: python -m benchmarks.command."""

import os
import sys

import django
from django.core.management import call_command

from .spent import peak


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
    django.setup()
    call_command(*arguments)
    print(peak(os.getpid()))


if __name__ == "__main__":
    main(sys.argv[1:])
