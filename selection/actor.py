"""On whose behalf code runs where no request says so: a command's user, or a part of the machine.

Without models, so that ``manage.py`` may say it before Django is there.
"""

import getpass
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

# They make the tables that would be written to, serve requests, which say themselves who asks, or
# try on what is not kept.
SILENT = {"", "help", "migrate", "makemigrations", "runserver", "check", "replay", "plan"}

_person: ContextVar[str] = ContextVar("person", default="")
_part: ContextVar[str] = ContextVar("part", default="")


def person() -> str:
    """Whose command runs, as "ada, manage.py explain"; empty outside of commands."""
    return _person.get()


def part() -> str:
    """Which part of the machine runs: engine, sweep, retention; empty where none said so."""
    return _part.get()


@contextmanager
def acting_as_command(words: Sequence[str]) -> Iterator[None]:
    """In this block what changes was changed by whoever gave this command line."""
    command = words[1] if len(words) > 1 else ""
    token = _person.set(
        "" if command in SILENT else f"{_machine_user()}, manage.py {command}"[:150]
    )
    try:
        yield
    finally:
        _person.reset(token)


@contextmanager
def acting_as_part(name: str) -> Iterator[None]:
    """In this block it is this part of the machine that does what is done."""
    token = _part.set(name)
    try:
        yield
    finally:
        _part.reset(token)


def _machine_user() -> str:
    """A container may have no name for the user it runs as."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
