"""Cases of recorded crowds, in files that the app reads."""

import os
from collections.abc import Iterable
from pathlib import Path

import django
import numpy as np
from numpy.typing import NDArray

from selection.errors import Refused

from .cases import Case, fixed_case

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
django.setup()

from crowdselect.past_answers.crowd import read_crowd  # noqa: E402

ENOUGH_ANSWERS = 50
GOLD = "_gold.csv"


def recorded_crowds(folder: Path) -> list[Case]:
    """Return a case for every NAME.csv with a NAME_gold.csv beside it. Raises Refused."""
    golds = sorted(folder.glob(f"*{GOLD}"))
    if not golds:
        raise Refused(f"{folder} has no crowd: no NAME.csv with NAME{GOLD}.")
    return [recorded_case(gold.name.removesuffix(GOLD), gold) for gold in golds]


def recorded_case(name: str, gold: Path) -> Case:
    """Return the case of a recorded crowd: answers are drawn from the record with replacement."""
    past = read_crowd(gold.with_name(f"{name}.csv"), gold)
    means = np.array(list(recorded_accuracies(past.right.values())))
    if means.size < 10:
        raise Refused(f"{name} has fewer than 10 workers with {ENOUGH_ANSWERS} answers.")
    return fixed_case(f"crowd-{name}", f"Recorded crowd {name}", means, means.size // 5)


def recorded_table(answers: Path) -> NDArray[np.bool_]:
    """Return (workers, questions) True for each right answer; a missing one is False.

    The known answers are in NAME_gold.csv beside it. Raises Refused.
    """
    crowd = read_crowd(answers, answers.with_name(f"{answers.stem}{GOLD}"))
    workers = {key: place for place, key in enumerate(crowd.workers)}
    questions = {key: place for place, key in enumerate(crowd.gold)}
    table = np.zeros((len(workers), len(questions)), bool)
    for row, grade in zip(crowd.answers, crowd.grades, strict=True):
        table[workers[row.worker], questions[row.question]] = grade
    return table


def recorded_accuracies(right: Iterable[list[float]]) -> Iterable[float]:
    """Yield the recorded accuracies of workers with enough answers."""
    return (sum(answers) / len(answers) for answers in right if len(answers) >= ENOUGH_ANSWERS)
