"""Results as users tell them: pairs with values, or with the reasons why there is none."""

import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np

from topk.problem import ProblemError

NO_MORE, NOT_ASKED = "no more items", "not asked"
QUIET = (NO_MORE, NOT_ASKED)  # reasons that are no failure of the candidate
LONGEST_REASON = 200


class NotAsked(Exception):
    """A cell of a table without a result."""


def read_results(results: Mapping[Any, Any] | Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield pairs with their values. Raises ProblemError for anything else."""
    for entry in results.items() if isinstance(results, Mapping) else results:
        if isinstance(entry, tuple) and len(entry) == 3:
            yield entry[:2], entry[2]
        elif isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], tuple):
            yield entry
        else:
            raise ProblemError(
                f"{entry!r} is no result: tell values by pair, {{(candidate, item): value}}, or "
                "tuples (candidate, item, value)."
            )


def read_value(value: Any, scores: bool) -> tuple[float | None, str]:
    """Read the value as a number, or None and the reason.

    Raises ProblemError, with the end of a sentence, for a value that is no result.
    """
    if isinstance(value, BaseException):
        return None, _describe_exception(value)
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return None, "no result"
    if not isinstance(value, Real | np.bool_) or not 0 <= float(value) <= 1:
        raise ProblemError(f"is {value!r}: a result is True, False or a number from 0 to 1.")
    if not scores and float(value) % 1:
        raise ProblemError(
            f"is {value!r} and lies between 0 and 1: say scores=True if it is a score."
        )
    return float(value), ""


def _describe_exception(error: BaseException) -> str:
    """Describe the type and the text. A coroutine turns StopIteration into the cause of another."""
    if isinstance(error, NotAsked):
        return NOT_ASKED
    if isinstance(error, StopIteration | StopAsyncIteration):
        return NO_MORE
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
        return NO_MORE
    return f"{type(error).__name__}: {error}"[:LONGEST_REASON]
