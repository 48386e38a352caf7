"""What the selected workers are worth at least, beside the comparison with the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from selection import viewer_locale
from selection.models import Run, pass_marks
from topk import THIS_SET

from .worker_columns import WorkerStanding


@dataclass(frozen=True)
class MeanFloor:
    """A mean accuracy that the selected workers have, with an error probability of its own.

    accuracy  in [0, 1], rounded down to three places
    sentence  for people, in whole percent
    """

    accuracy: float
    sentence: str


def state_mean_floor(run: Run, lines: Sequence[WorkerStanding]) -> MeanFloor | None:
    """State the floor at the end of a run; None if it is below one percent.

    None also of several selected that met the same questions in one order: it multiplies evidence.

    lines  of all workers in all kinds of task
    """
    selected = [place for place, line in enumerate(lines) if line.selected]
    if run.status != Run.Status.ENDED or not selected:
        return None
    if run.selector_class.common_order and len(selected) > 1:
        return None
    right, answers = [line.right for line in lines], [line.answers for line in lines]
    skill = np.array([line.number for line in lines])
    bound = pass_marks.bound_selected(run, right, answers, selected, skill)
    accuracy = floor(1000 * bound) / 1000
    return MeanFloor(accuracy, _say(run, len(selected), accuracy)) if accuracy >= 0.01 else None


def _say(run: Run, selected: int, accuracy: float) -> str:
    who = f"the {selected} selected answer" if selected > 1 else "the selected one answers"
    share = viewer_locale.format_percent(floor(100 * accuracy) / 100)
    of = " of this question set" if run.options.get("accuracy") == THIS_SET else ""
    average = " on average" if selected > 1 else ""
    percent = 100 * (1 - run.delta)
    sure = viewer_locale.format_percent(1 - run.delta, viewer_locale.places_of(percent))
    return f"With {sure} certainty, {who} at least {share}{of} right{average}."
