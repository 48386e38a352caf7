"""Budget spent on answers whose question was retired later.

They are paid, so they stay in the budget, and fewer other answers can count.
"""

from dataclasses import dataclass
from typing import Annotated

from selection.errors import Conflict
from selection.models import Run
from selection.texts import count_noun
from selection.viewer_locale import format_count

from . import changes

ACTIVE = {Run.Status.RUNNING, Run.Status.PAUSED}


@dataclass(frozen=True)
class VoidBudget:
    """Budget spent on answers to questions retired later: they are paid, but do not count."""

    answers: Annotated[int, "Since the budget was last changed."]
    budget: Annotated[
        int | None,
        "That lets as many others be asked; null where the algorithm planned with it.",
    ]
    words: str


def void_budget_of(run: Run) -> VoidBudget | None:
    """Compute the void part of a budget that still matters; None for nearly all runs."""
    if (
        run.budget is None
        or not _lacks_budget(run)
        or not (answers := _count_wasted_since_change(run))
    ):
        return None
    text = (
        f"{count_noun(answers, 'paid answer')} of the budget count for nothing: their questions "
        "were retired."
    )
    if answers == 1:
        text = "One paid answer of the budget counts for nothing: its question was retired."
    if run.fixed_budget:
        plan = f"{run.selector_class.title} planned with {count_noun(run.budget, 'answer')}"
        bound = f"at most {format_count(run.budget - answers)} can count"
        return VoidBudget(answers, None, f"{text} {plan}; {bound}.")
    budget = run.budget + answers
    return VoidBudget(
        answers,
        budget,
        f"{text} A budget of {count_noun(budget, 'answer')} replaces them.",
    )


def make_up(run: Run, who: str = "", why: str = "") -> dict[str, str]:
    """Raise the budget by the void answers, as ``apply_changes`` does. Raises Conflict if none."""
    void = void_budget_of(run)
    if void is None or void.budget is None:
        raise Conflict("No answer of the budget became void since it was last changed.")
    return changes.apply_changes(run, {"budget": void.budget}, who, why)


def _lacks_budget(run: Run) -> bool:
    """Tell if the run goes on, or ended because its budget was spent."""
    if run.status in ACTIVE:
        return True
    short = run.may_be_raised or (run.fixed_budget and run.ending == Run.Ending.BUDGET)
    return short and not run.affords_more


def _count_wasted_since_change(run: Run) -> int:
    if not run.has_void:
        return 0
    wasted = run.answers.wasted()
    last = run.events.filter(kind="budget").order_by("at").last()
    if last is not None:
        wasted = wasted.filter(assignment__question__retired__gt=last.at)
    return wasted.count()
