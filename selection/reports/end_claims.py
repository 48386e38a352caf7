"""What is shown of the selected at the end beside the guarantee: mean accuracy and pass mark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from selection.models import Run, pass_marks
from selection.runs.settings import guarantee_texts

from .worker_columns import WorkerStanding


@dataclass(frozen=True)
class EndClaims:
    """Statements on the selected, each with an error probability δ of its own; none before the end.

    mean_at_least   the mean accuracy that they have, rounded down to three places; None if it is
                    below one percent, and of several that met the same questions in one order,
                    because it multiplies evidence
    """

    mean_at_least: float | None = None
    mean_guarantee: str = ""
    mark_guarantee: str = ""


def claims_at_end(run: Run, lines: Sequence[WorkerStanding]) -> EndClaims:
    """Make the claims.

    lines  of all workers in all kinds of task
    """
    if run.status != Run.Status.ENDED:
        return EndClaims()
    selected = [place for place, line in enumerate(lines) if line.selected]
    accuracy, mark = _bound_mean(run, lines, selected), ""
    if pass_marks.has_mark(run):
        reaching = Counter(lines[place].mark for place in selected)[pass_marks.WORDS[1]]
        mark = guarantee_texts.word_reached_mark(run, reaching, len(selected))
    mean = guarantee_texts.word_mean_floor(run, len(selected), accuracy)
    return EndClaims(accuracy, mean, mark)


def _bound_mean(run: Run, lines: Sequence[WorkerStanding], selected: list[int]) -> float | None:
    if not selected or (run.selector_class.common_order and len(selected) > 1):
        return None
    right, answers = [line.right for line in lines], [line.answers for line in lines]
    skill = np.array([line.number for line in lines])
    bound = pass_marks.bound_selected(run, right, answers, selected, skill)
    accuracy = floor(1000 * bound) / 1000
    return accuracy if accuracy >= 0.01 else None
