"""Settings from the environment: environs, with error messages of one sentence."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from environs import Env, EnvError, validate

Number = TypeVar("Number", int, float)
DATABASES = "sqlite:///file or postgresql://user:password@host/name"


class Environment(Env):
    """Variables of the process. A blank one counts as unset.

    The methods below raise ImproperlyConfigured, as Django does for settings.
    """

    def _get_value(self, env_key: str, default: Any) -> Any:
        return os.environ.get(env_key, "").strip() or default

    def flag(self, var: str, default: bool = False) -> bool:
        with _explain_invalid(var, "yes or no"):
            return bool(self.bool(var, default))

    def names(self, var: str, default: Sequence[str] = ()) -> list[str]:
        """Split the comma-separated values, and strip the spaces around them."""
        values = (value.strip() for value in self.list(var, list(default)) or [])
        return [value for value in values if value]

    def pairs(self, var: str) -> dict[str, str]:
        """Split NAME=value with commas between into values by name."""
        pairs = [pair.partition("=") for pair in self.names(var)]
        if not all(name.strip() and value.strip() for name, _, value in pairs):
            # Without the text: it may be a secret in the wrong place.
            raise ImproperlyConfigured(f"{var} must be NAME=value, further ones after commas.")
        return {name.strip(): value.strip() for name, _, value in pairs}

    def number(self, var: str, default: Number, least: int = 0) -> Number:
        whole = isinstance(default, int)
        parse: Callable[..., Any] = self.int if whole else self.float
        kind = "whole number" if whole else "number"
        with _explain_invalid(var, f"a {kind} of {least} or more"):
            return type(default)(parse(var, default, validate=validate.Range(min=least)))

    def choice(self, var: str, choices: Sequence[str]) -> str:
        """Choose one of these, in any letter case; the first by default."""
        spelled = {choice.lower(): choice for choice in choices}
        text = str(self.str(var, choices[0]))
        with _explain_invalid(var, f"one of {', '.join(choices)}"):
            self.str(var, choices[0], validate=lambda text: validate.OneOf(spelled)(text.lower()))
        return spelled[text.lower()]

    def choices(self, var: str, choices: Sequence[str]) -> list[str]:
        """Choose any of these, with commas between; none by default."""
        chosen = self.names(var)
        if unknown := [name for name in chosen if name not in choices]:
            raise ImproperlyConfigured(
                f"{var} names “{unknown[0]}” and must be some of {', '.join(choices)}."
            )
        return chosen

    def time_zone(self, var: str, default: str) -> str:
        with _explain_invalid(var, "a time zone as Europe/Berlin"):
            return str(self.str(var, default, validate=validate.OneOf(available_timezones())))

    def url_starting(self, var: str, default: str, schemes: Sequence[str]) -> str:
        """Read an address that begins with one of these, or the default."""
        pattern = validate.Regexp("|".join(schemes))
        with _explain_invalid(var, f"an address that begins with {' or '.join(schemes)}"):
            return str(self.str(var, validate=pattern) if self.str(var, "") else default)

    def database(self, var: str, default: str) -> dict[str, Any]:
        with _explain_invalid(var, DATABASES):
            self.str(var, default, validate=validate.Regexp("sqlite:|postgres(ql)?:"))
            return dict(self.dj_db_url(var, default) or {})


@contextmanager
def _explain_invalid(var: str, expected: str) -> Iterator[None]:
    """Raise ImproperlyConfigured for environs' error, without a password in the address."""
    try:
        yield
    except EnvError as error:
        text = os.environ.get(var, "").strip()
        safe = f"{text.partition(':')[0]}:…" if ":" in text else text
        raise ImproperlyConfigured(f"{var} is “{safe}” and must be {expected}.") from error


@contextmanager
def exit_with_sentence() -> Iterator[None]:
    """End a command that cannot start with a sentence."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.exit(f"This setting will not do: {error}")
    except DatabaseError as error:
        reason = str(error).splitlines()[0]
        missing = "no such table" in reason or "does not exist" in reason
        remedy = "; has `python manage.py migrate` been run?" if missing else "."
        sys.stderr.write(f"The database cannot be used ({reason}){remedy}\n")
        sys.exit(2)
