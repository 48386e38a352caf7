"""Settings of algorithms: checked, described, and ready for JSON."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .problem import ProblemError


@dataclass(frozen=True)
class Option:
    """A setting of an algorithm.

    name     its stored name, and the constructor's keyword
    default  its value if unset; None means that the algorithm works it out
    about    a sentence for users
    kind     "number", "integer", "flag", "choice", "object", "positives" or "labels"
    choices  the values of a "choice"
    above    a number must be greater than this
    most     and at most this
    by_hand  True if users set it; others are filled in by the program that runs the algorithm
    """

    name: str
    default: Any
    about: str
    kind: str = "number"
    choices: tuple[str, ...] = ()
    above: float = -math.inf
    most: float = math.inf
    by_hand: bool = True

    def check(self, value: Any) -> None:
        """Raise ProblemError, with a sentence for users, if the value is invalid."""
        if value is None and self.default is None:
            return
        if not getattr(self, f"_is_{self.kind}")(value):
            raise ProblemError(f"{self.name} must be {self.valid_values}, but it is {value!r}.")

    @property
    def valid_values(self) -> str:
        """A description of the valid values, such as "a whole number above 0"."""
        if self.kind in ("number", "integer"):
            return f"{'a whole number' if self.kind == 'integer' else 'a number'}{self._range()}"
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "positives":
            return "a list of finite numbers above 0"
        if self.kind == "labels":
            return "a list of texts or whole numbers"
        return "yes or no" if self.kind == "flag" else "an object"

    def _range(self) -> str:
        ends = [f"above {self.above:g}"] if self.above > -math.inf else []
        ends += [f"at most {self.most:g}"] if self.most < math.inf else []
        return " " + " and ".join(ends) if ends else ""

    def _is_number(self, value: Any) -> bool:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and math.isfinite(value) and self.above < value <= self.most

    def _is_integer(self, value: Any) -> bool:
        return isinstance(value, int) and self._is_number(value)

    def _is_flag(self, value: Any) -> bool:
        return isinstance(value, bool)

    def _is_choice(self, value: Any) -> bool:
        return value in self.choices

    def _is_positives(self, value: Any) -> bool:
        if not isinstance(value, list | tuple | np.ndarray) or not len(value):
            return False
        try:
            numbers = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            return False
        return numbers.ndim == 1 and bool((np.isfinite(numbers) & (numbers > 0)).all())

    def _is_labels(self, value: Any) -> bool:
        if not isinstance(value, list | tuple | np.ndarray) or not len(value):
            return False
        return all(isinstance(label, str | int | np.integer) for label in value)

    def _is_object(self, value: Any) -> bool:
        return isinstance(value, dict)


def settle_options(
    title: str, options: tuple[Option, ...], values: dict[str, Any]
) -> dict[str, Any]:
    """Settle the value of every option, the default if it is unset. Raises ProblemError."""
    names = {option.name for option in options}
    for name in values:
        if name not in names:
            raise ProblemError(f"{title} has no option named {name}.")
    settings = {option.name: values.get(option.name, option.default) for option in options}
    for option in options:
        option.check(settings[option.name])
    return settings
