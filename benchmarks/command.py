"""A command of ``manage.py``, and the MB that it held at most: python -m benchmarks.command."""

import os
import sys

import django
from django.core.management import call_command

from .spent import peak


def main(words: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
    django.setup()
    call_command(*words)
    print(peak(os.getpid()))


if __name__ == "__main__":
    main(sys.argv[1:])
