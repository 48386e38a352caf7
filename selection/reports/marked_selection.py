"""The selection, limited to workers shown to reach the run's pass mark."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selection.models import Run, pass_marks
from topk import Verdict
from topk.pass_mark import REACHES
from topk.selected_arms import SelectedArms, only_marked


def marks_of(run: Run, rows: Sequence[Any]) -> list[str]:
    """Word the mark of each row of candidates; empty ones for a run without a mark."""
    if not pass_marks.has_mark(run) or not rows:
        return [""] * len(rows)
    return [pass_marks.WORDS[mark] for mark in _judge_rows(run, rows).tolist()]


def apply_mark(run: Run, rows: Sequence[Any], selected: SelectedArms) -> SelectedArms:
    """Limit the selection of an ended run to workers shown to reach the mark."""
    if run.status != Run.Status.ENDED or not pass_marks.has_mark(run):
        return selected
    reaching = _judge_rows(run, rows) == REACHES
    if run.finished and not run.selector_class.open_roster:
        # It remembers verdicts, and those of the end keep to the mark: a place cannot pass on.
        accepted = np.array([row.verdict == Verdict.ACCEPTED for row in rows])
        places = run.total - selected.untested
        selected = replace(selected, arms=np.flatnonzero(accepted))
        return replace(only_marked(selected, reaching), short=places - int(accepted.sum()))
    return only_marked(selected, reaching)


def _judge_rows(run: Run, rows: Sequence[Any]) -> NDArray[np.int8]:
    rewards = np.array([row.rewards for row in rows], float)
    pulls = np.array([row.pulls for row in rows], np.int64)
    return pass_marks.judge_run(run, rewards, pulls, np.array([row.skill for row in rows]))
