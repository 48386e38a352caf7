"""The actor of changes made without a request: a command's user, or a part of the machine.

Without models, so that ``manage.py`` may set it before Django is loaded.
"""

import getpass
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

# Commands without an actor: they create the tables themselves, serve requests, which have users of
# their own, or work on data that is thrown away.
SILENT = {"", "help", "migrate", "makemigrations", "runserver", "check", "replay"}

_person: ContextVar[str] = ContextVar("person", default="")
_part: ContextVar[str] = ContextVar("part", default="")


def person() -> str:
    """Name user and command, such as "ada, manage.py recount"; empty outside of commands."""
    return _person.get()


def part() -> str:
    """Name the part of the machine at work (engine, sweep, retention), or ""."""
    return _part.get()


@contextmanager
def acting_as_command(arguments: Sequence[str]) -> Iterator[None]:
    command = arguments[1] if len(arguments) > 1 else ""
    token = _person.set("" if command in SILENT else f"{machine_user()}, manage.py {command}"[:150])
    try:
        yield
    finally:
        _person.reset(token)


@contextmanager
def acting_as_person(name: str) -> Iterator[None]:
    """Attribute changes in this block to this person, at an earlier request."""
    token = _person.set(name)
    try:
        yield
    finally:
        _person.reset(token)


@contextmanager
def acting_as_part(name: str) -> Iterator[None]:
    token = _part.set(name)
    try:
        yield
    finally:
        _part.reset(token)


def machine_user() -> str:
    """Name the user; a container may have none for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
