"""The choices for a run: algorithms with their guarantees, settings and options."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.models import Run, pass_marks
from selection.runs.roster import quotas
from selection.viewer_locale import format_figure
from topk import LIKE_THESE, Option


@dataclass(frozen=True)
class Setting:
    """A setting that a person may change on some algorithms."""

    option: Option
    label: str
    algorithms: tuple[str, ...]

    @property
    def titles(self) -> list[str]:
        return [ALGORITHMS[name].title for name in self.algorithms]


def list_settings() -> list[Setting]:
    """List every setting of any algorithm, once each."""
    users: dict[str, list[str]] = {}
    options: dict[str, Option] = {}
    for name in ALGORITHMS:
        for option in algorithms.algorithm_options(name):
            users.setdefault(option.name, []).append(name)
            options.setdefault(option.name, option)
    return [
        Setting(option, algorithms.option_label(name), tuple(users[name]))
        for name, option in options.items()
    ]


def fields_read_by_algorithm() -> dict[str, list[str]]:
    """Map each algorithm to the fields of a run's form that it reads besides the common ones."""
    return {
        name: [
            *kind.needs,
            *(f"option_{option.name}" for option in algorithms.algorithm_options(name)),
            *(["quota_attribute", "quota_lines"] if kind.keeps_quotas else []),
            *(["skills"] if kind.takes_skills else []),
            *(["one_kind_each"] if kind.matches else []),
            *(["by_price"] if algorithms.takes_prices(name) else []),
        ]
        for name, kind in ALGORITHMS.items()
    }


def describe_options(run: Run) -> list[tuple[str, str]]:
    """List the options that differ from their defaults, for people: (label, value)."""
    chosen = run.hand_set
    if run.selector_class.says_accuracy:
        chosen = {"accuracy": LIKE_THESE} | chosen
    lines = [
        (algorithms.option_label(name), _format_value(value)) for name, value in chosen.items()
    ]
    if run.pass_mark is not None:
        lines.append(("Pass mark", pass_marks.format_mark(run)))
    if run.quotas:
        limits = sorted(run.quotas["limits"].items())
        limit_text = ", ".join(f"{value} {quotas.describe_limit(limit)}" for value, limit in limits)
        lines.append((f"Quotas by {run.quotas['attribute']}", limit_text))
    return lines


def describe_accuracy(run: Run) -> str:
    """Explain accuracy in this run's guarantee; empty if it could not be chosen."""
    if not run.selector_class.says_accuracy:
        return ""
    chosen = run.options.get("accuracy", LIKE_THESE)
    return f"Accuracy {chosen} is {algorithms.MEANINGS[chosen]}."


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{format_figure(value)}" if isinstance(value, float) else str(value)


def drop_default_options(algorithm: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the options that differ from their defaults.

    Defaults are not stored, so that better ones of a later version take effect. Raises Refused for
    an unknown option.
    """
    options = _check_option_names(algorithm, given)
    return {
        name: value
        for name, value in given.items()
        if value is not None and value != options[name].default
    }


def _check_option_names(algorithm: str, names: Collection[str]) -> dict[str, Option]:
    """Look up the algorithm's options. Raises Refused if it does not offer one of these names."""
    options = {option.name: option for option in algorithms.algorithm_options(algorithm)}
    for name in names:
        if name not in options:
            available = f"it has {', '.join(options)}" if options else "it has none"
            raise Refused(f"{ALGORITHMS[algorithm].title} has no option {name}; {available}.")
    return options


def read_options(algorithm: str, written: dict[str, str]) -> dict[str, Any]:
    """Parse options from a command line. Raises Refused for invalid ones."""
    options = _check_option_names(algorithm, written)
    return {name: _parse_option(options[name], text) for name, text in written.items()}


def _parse_option(option: Option, text: str) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        "flag": {"yes": True, "no": False}.__getitem__,
        "integer": int,
        "number": float,
    }
    try:
        value = readers.get(option.kind, str)(text)
        option.check(value)
    except (KeyError, ValueError) as error:
        raise Refused(
            f"{option.name} must be {option.valid_values}, but it is “{text}”."
        ) from error
    return value
