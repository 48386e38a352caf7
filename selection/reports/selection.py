"""A run's selection, read from its stored answers."""

from typing import Any

import numpy as np

from selection.models import Run
from selection.models.roster import Roster
from topk import Selector, selected_arms
from topk.selected_arms import SelectedArms

from .marked_selection import apply_mark
from .model_fit import TALLIES, restore_selector

MOST_NAMED = 3


def ended_early(run: Run) -> bool:
    return run.status == Run.Status.ENDED and not run.finished


def selection_of_run(run: Run) -> SelectedArms:
    """Select for the run, without workers who are not tested."""
    rows: list[Any] = list(run.candidates.order_by("arm").values_list(*TALLIES, named=True))
    return name_tested(run, rows, *restore_selector(run, rows))


def name_tested(
    run: Run, rows: list[Any], roster: Roster, selector: Selector | None
) -> SelectedArms:
    """Name the tested part of the selection, at the end without those below the pass mark.

    rows  of all candidates, in order of their arms
    """
    pulls = np.array([row.pulls for row in rows], np.int64)
    tested = selected_arms.only_tested(selected_by(run, roster, selector), pulls)
    return apply_mark(run, rows, tested)


def selected_by(run: Run, roster: Roster, selector: Selector | None) -> SelectedArms:
    """Select as the algorithm stands.

    selector  None with too few workers to choose from
    """
    if selector is None:
        return _remaining_arms(run, roster)
    early = ended_early(run)
    is_lost = early and run.guarantee_lost
    return selected_arms.select_arms(selector, roster.arms, early, run.best_guarantee, is_lost)


def _remaining_arms(run: Run, roster: Roster) -> SelectedArms:
    if run.ending != Run.Ending.ROSTER or not roster.arms.size:
        return SelectedArms(roster.arms[:0])
    rows = run.candidates.order_by("arm").values_list("rewards", "pulls")
    rewards, pulls = np.array(list(rows)).T[:, roster.arms]
    people = roster.people if run.several and run.one_kind_each else None
    ks = [skill.k for skill in run.skills]
    return selected_arms.select_everybody(roster.arms, rewards, pulls, ks, people)
