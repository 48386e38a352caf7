"""The mean accuracy of the selected, and the pass mark beside any rule: pass-mark.md of topk."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from selection.viewer_locale import format_percent, places_of
from topk import THIS_SET, Verdict
from topk.mean_bound import bound_mean
from topk.pass_mark import REACHES, is_settled, judge_marks

from .runs import Run

Counts = NDArray[np.int64]

WORDS = {1: "reaches the mark", 0: "not shown yet", -1: "below the mark"}
SHORT = "not shown to reach the pass mark"
USUAL_TOLERANCE = 0.05


def has_mark(run: Run) -> bool:
    """Tell if the mark is tested beside the rule: a rule may also select by it."""
    return run.pass_mark is not None and not run.selector_class.takes_mark


def judge_run(run: Run, rewards: Any, pulls: Any, skill: Counts) -> NDArray[np.int8]:
    """Judge (n,) a key of WORDS for each arm; the columns are (n,), in order of the arms."""
    assert run.pass_mark is not None
    return judge_marks(rewards, pulls, run.pass_mark, run.delta, **_conditions(run, skill))


def is_reaching(run: Run, rewards: Any, pulls: Any, skill: Counts) -> NDArray[np.bool_]:
    return np.asarray(judge_run(run, rewards, pulls, skill) == REACHES)


def reject_short(verdict: NDArray[np.int8], reaching: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Reject the accepted at the end, of (n,) verdicts, that are not shown to reach the mark."""
    short = (verdict == Verdict.ACCEPTED) & ~reaching
    return np.where(short, np.int8(Verdict.REJECTED), verdict)


def describe_short(run: Run) -> str:
    """State the reason of a rejection by the mark alone."""
    return f"among the workers that the algorithm selects, but {SHORT} of {format_mark(run)}"


def describe_find(run: Run, mean: float) -> str:
    """State the reason of a rule for a mark to accept a worker."""
    return f"mean {mean:.3f}, shown to reach the pass mark of {format_mark(run)} within ε"


def format_mark(run: Run) -> str:
    return write_mark(run.pass_mark or 0)


def write_mark(mark: float) -> str:
    """Write a mark in percent, with the places that it has."""
    percent = round(100 * mark, 6)
    return format_percent(percent / 100, places_of(percent))


def needs_no_more(run: Run, rewards: Any, pulls: Any, skill: Counts) -> NDArray[np.bool_]:
    """Find (n,) flags of the arms that need no more answers because of the mark."""
    assert run.pass_mark is not None
    conditions = _conditions(run, skill)
    return is_settled(rewards, pulls, run.pass_mark, tolerance_of(run), run.delta, **conditions)


def tolerance_of(run: Run) -> float:
    """Compute the width above the mark in which it need not be settled: further answers cost most.

    It is half of ε, so that ε remains the accuracy to which the run works.
    """
    assert run.pass_mark is not None
    epsilon = run.epsilon if "epsilon" in run.selector_class.needs else 0.0
    return min((epsilon or 2 * USUAL_TOLERANCE) / 2, (1 - run.pass_mark) / 2)


def bound_selected(run: Run, rewards: Any, pulls: Any, arms: Any, skill: Counts) -> float:
    """Bound the mean accuracy of the selected arms from below, as ``bound_mean`` does."""
    conditions = _conditions(run, skill)
    return bound_mean(rewards, pulls, arms, run.total, run.delta, **conditions)


def _conditions(run: Run, skill: Counts) -> dict[str, Any]:
    sizes = np.array([skill.deck_size for skill in run.skills])
    on_set = run.options.get("accuracy") == THIS_SET
    return {
        "questions": sizes[skill] if on_set else None,
        "joined": min(run.joined * len(sizes), skill.size),
    }
