"""What a person may set on an algorithm: checked, described, and ready for JSON."""

import math
from dataclasses import dataclass
from typing import Any

from .problem import ProblemError


@dataclass(frozen=True)
class Option:
    """One setting.

    name     as it is stored, and the constructor's keyword
    default  its value when nothing is said; None means that the algorithm works it out
    about    one sentence for a person
    kind     "number", "integer", "flag", "choice" or "object"
    choices  what a "choice" may be
    above    a number must be greater than this
    most     and at most this
    by_hand  whether a person sets it; others are filled in by whoever runs the algorithm
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
        """Raise ProblemError, with a sentence for a person, for a value that cannot be."""
        if value is None and self.default is None:
            return
        if not getattr(self, f"_is_{self.kind}")(value):
            raise ProblemError(f"{self.name} must be {self.wanted}, but it is {value!r}.")

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.kind in ("number", "integer"):
            return f"{'a whole number' if self.kind == 'integer' else 'a number'}{self._range()}"
        if self.kind == "choice":
            return " or ".join(self.choices)
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

    def _is_object(self, value: Any) -> bool:
        return isinstance(value, dict)


def settle_options(title: str, known: tuple[Option, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Every option's value: what was given, the default otherwise. Raises ProblemError."""
    names = {option.name for option in known}
    for name in given:
        if name not in names:
            raise ProblemError(f"{title} has no option named {name}.")
    settled = {option.name: given.get(option.name, option.default) for option in known}
    for option in known:
        option.check(settled[option.name])
    return settled
