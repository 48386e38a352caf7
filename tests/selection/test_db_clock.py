"""One clock decides for all hosts."""

from pathlib import Path

import selection

ROOM = Path(selection.__file__).parent
# Checks made in every request, where a minute more or less does not matter.
HOSTS_CLOCK = {
    "db_clock.py",
    "accounts/tokens.py",
    "answers/presence.py",
    "models/tokens.py",
}


def test_only_listed_modules_read_the_clock_of_the_host():
    files = [file for file in ROOM.rglob("*.py") if "migrations" not in file.parts]
    reading = {
        str(file.relative_to(ROOM)) for file in files if "timezone.now" in file.read_text("utf-8")
    }
    assert reading == HOSTS_CLOCK
