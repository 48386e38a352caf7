"""Settings from the environment. What cannot be meant is refused in a sentence that names it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, TypeVar
from zoneinfo import available_timezones

import environ
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

Number = TypeVar("Number", int, float)
YES = ("true", "yes", "on", "1", "y", "ok")
NO = ("false", "no", "off", "0", "n")
DATABASES = "sqlite:///file or postgresql://user:password@host/name"


class Environment(environ.Env):  # type: ignore[misc]
    """django-environ's, but strict. An empty value is none.

    Raises ImproperlyConfigured, as Django does for settings.
    """

    def said(self, var: str) -> str:
        return str(self.ENVIRON.get(var, "")).strip()

    def bool(self, var: str, default: bool = False) -> bool:
        said = self.said(var).lower()
        if said not in ("", *YES, *NO):
            raise wrong(var, said, "yes or no")
        return said in YES if said else default

    def number(self, var: str, default: Number, least: int = 0) -> Number:
        """As whole as its default."""
        said = self.said(var)
        try:
            value = type(default)(said) if said else default
        except ValueError:
            value = type(default)(least - 1)
        if value < least or not isfinite(value):
            kind = "whole number" if isinstance(default, int) else "number"
            raise wrong(var, said, f"a {kind} of {least} or more")
        return value

    def choice(self, var: str, among: Sequence[str]) -> str:
        """One of these, in any letter case; the first where nothing is said."""
        said = self.said(var)
        known = {one.lower(): one for one in among}
        if said and said.lower() not in known:
            raise wrong(var, said, f"one of {', '.join(among)}")
        return known[said.lower()] if said else among[0]

    def time_zone(self, var: str, default: str) -> str:
        said = self.said(var) or default
        if said not in available_timezones():
            raise wrong(var, said, "a time zone as Europe/Berlin")
        return said

    def starting(self, var: str, default: str, schemes: Sequence[str]) -> str:
        """An address that begins with one of these."""
        said = self.said(var) or default
        if said and not said.startswith(tuple(schemes)):
            raise wrong(var, _kind(said), f"an address that begins with {' or '.join(schemes)}")
        return said

    def database(self, var: str, default: str) -> dict[str, Any]:
        said = self.said(var) or default
        if not said.startswith(("sqlite:", "postgres:", "postgresql:")):
            raise wrong(var, _kind(said), DATABASES)
        try:
            return dict(self.db_url_config(said))
        except ValueError as error:
            raise wrong(var, _kind(said), DATABASES) from error


def _kind(address: str) -> str:
    """An address may have a password."""
    return f"{address.partition(':')[0]}:…" if ":" in address else address


def wrong(var: str, said: str, right: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{var} is “{said}” and must be {right}.")


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """End a command in a sentence where it cannot begin."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.exit(f"This setting will not do: {error}")
    except DatabaseError as error:
        why = str(error).splitlines()[0]
        missing = "no such table" in why or "does not exist" in why
        remedy = "; has `python manage.py migrate` been run?" if missing else "."
        sys.stderr.write(f"The database cannot be used ({why}){remedy}\n")
        sys.exit(2)
