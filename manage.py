#!/usr/bin/env python
"""Django's command line."""

import os
import sys

from django.core.management import execute_from_command_line

from crowdselect.environment import exit_with_sentence
from selection import actor

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
    try:
        with actor.acting_as_command(sys.argv), exit_with_sentence():
            execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells of Ctrl-C, without the place where it hit
