"""Known groups of the arms: the rule that takes them lets each have a population of its own.

docs/universal.md, section 3.6, says what the guarantee then assumes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .options import Option
from .problem import ProblemError

Counts = NDArray[np.int64]

GROUPS = Option(
    "groups",
    None,
    "The known group of each worker, one label for each. Each group may come from a population of "
    "its own. Without them all workers come from one.",
    "labels",
    by_hand=False,
)


def check_groups(groups: Any, n: int) -> list[Any] | None:
    """Check (n,) labels; None without. Raises ProblemError if there is not one for each arm."""
    GROUPS.check(groups)
    if groups is None:
        return None
    labels = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(labels) != n:
        raise ProblemError(f"groups must be one for each of the {n} workers, not {len(labels)}.")
    return labels


def number_groups(groups: Sequence[Any], gone: Sequence[Any]) -> tuple[Counts, Counts]:
    """Enumerate (n,) and (g,) groups, from 0 in order of appearance.

    gone  (g,) labels of arms that were withdrawn

    Other labels for the same groups give the same numbers.
    """
    labels = [*groups, *gone]
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    numbers = np.array([number[label] for label in labels], np.int64)
    return numbers[: len(groups)], numbers[len(groups) :]
