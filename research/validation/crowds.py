"""Cases of recorded crowds. Only here does the research need the app, which reads the files."""

import os
from collections.abc import Iterable
from pathlib import Path

import django
import numpy as np

from selection.errors import Refused

from .cases import Case, fixed_case

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
django.setup()

from selection.replays.crowd import read_crowd  # noqa: E402

ENOUGH_ANSWERS = 50
GOLD = "_gold.csv"


def recorded_crowds(folder: Path) -> list[Case]:
    """A case for every NAME.csv with a NAME_gold.csv beside it. Raises Refused."""
    golds = sorted(folder.glob(f"*{GOLD}"))
    if not golds:
        raise Refused(f"{folder} has no crowd: no NAME.csv with NAME{GOLD}.")
    return [recorded_case(gold.name.removesuffix(GOLD), gold) for gold in golds]


def recorded_case(name: str, gold: Path) -> Case:
    """Recorded answers drawn with replacement: each is right as often as in the record."""
    past = read_crowd(gold.with_name(f"{name}.csv"), gold)
    means = np.array(list(recorded_accuracies(past.right.values())))
    if means.size < 10:
        raise Refused(f"{name} has fewer than 10 workers with {ENOUGH_ANSWERS} answers.")
    return fixed_case(f"crowd-{name}", f"Recorded crowd {name}", means, means.size // 5)


def recorded_accuracies(right: Iterable[list[bool]]) -> Iterable[float]:
    """The recorded accuracy of everybody with answers enough to have one."""
    return (sum(answers) / len(answers) for answers in right if len(answers) >= ENOUGH_ANSWERS)
