#!/usr/bin/env python
"""Django's command line."""

import os
import sys

from django.core.management import execute_from_command_line

from crowdselect.environment import in_a_sentence
from selection import actor

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
    try:
        with actor.by_command(sys.argv), in_a_sentence():
            execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells of Ctrl-C, without the place where it hit
