"""Effect of a changed setting on a started run: a sentence, or a refusal.

δ, K, the algorithm and the question set define the run: to change one of these, copy the run.
"""

from copy import copy
from datetime import datetime
from decimal import Decimal

from selection import db_clock
from selection.errors import Conflict, Refused
from selection.models import Completion, Heartbeat, Platform, Run
from selection.runs import money
from selection.runs.roster import membership
from selection.texts import counted
from selection.viewer_locale import format_figure, format_moment

from . import guarantee_texts, guarantees, validation
from .guarantees import GuaranteeFacts

GUARANTEE_UNCHANGED = "The guarantee does not change: it covers any number of answers."
OPEN_ASSIGNMENTS_STAY = "Open assignments stay open. The guarantee does not change."


def may_change_budget(run: Run) -> bool:
    """Tell if the run has a budget that can change, and would matter."""
    return not run.fixed_budget and (run.status != Run.Status.ENDED or run.may_be_raised)


def describe_budget(run: Run, value: int | None) -> str:
    title = run.selector_class.title
    if run.fixed_budget:
        raise Refused(f"{title} plans with its budget from the start. Copy the run to change it.")
    ended = run.status == Run.Status.ENDED
    if ended and not run.may_be_raised:
        raise Conflict(f"The run ended because {run.why_ended}: the budget no longer matters.")
    used = run.count_spent()
    if value is not None and value < used:
        raise Refused(f"The budget cannot be below the {counted(used, 'assignment')} already made.")
    if value is None:
        now = f"The budget is unlimited instead of {_format_budget(run.budget)}."
    else:
        now = (
            f"The budget is {counted(value, 'answer')} instead of "
            f"{_format_budget(run.budget)}: "
            f"{counted(value - used, 'more assignment')} can be made."
        )
    lowered = value is not None and (run.budget is None or value < run.budget)
    early = " If it is spent before the target is reached, the run ends with a weaker guarantee."
    continuation = " The run goes on." if ended else ""
    return f"{now}{continuation} {GUARANTEE_UNCHANGED}{early if lowered else ''}"


def _format_budget(budget: int | None) -> str:
    return "no limit" if budget is None else f"{counted(budget, 'answer')}"


def describe_price(run: Run, value: Decimal | None) -> str:
    if value is None:
        return "The cost per answer is unknown from now on."
    new = money.format_amount(value, run.currency)
    old = "" if run.price is None else f" instead of {money.format_amount(run.price, run.currency)}"
    return f"An answer costs {new}{old}. The budget is in answers and does not change."


def describe_currency(run: Run, value: str) -> str:
    return f"Amounts are in {value or 'no currency'}. No number changes."


def describe_hours_to_come(run: Run, value: float | None) -> str:
    if value is None:
        return (
            "The run waits for all workers from now on. The guarantee covers all workers in the "
            "run."
        )
    now = Heartbeat.objects.time_taken(db_clock.database_now())
    silent = membership.silent_candidates(run, value, now)
    count = 0 if run.enrolling else silent.values("worker").distinct().count()
    affected = f" This affects up to {counted(count, 'worker')} now." if count else ""
    text = (
        f"Workers who do nothing for {format_figure(value)} hours count as gone.{affected} They "
        "are neither accepted nor rejected, and the guarantee covers the others. It assumes that "
        "no-shows are neither better nor worse than the others."
    )
    if not run.covers_withdrawal:
        text += " If a worker with counted answers is gone, the run has no guarantee."
    return text


def describe_keep_no_shows(run: Run, value: bool) -> str:
    if value:
        return "At the end, the guarantee is about all workers, no-shows included."
    return "At the end, the guarantee is about the workers with a counted answer."


def may_move_epsilon(run: Run) -> bool:
    """Tell if the algorithm's bounds hold for every ε at once."""
    return "epsilon" in run.selector_class.needs and run.selector_class.epsilon_moves


def describe_epsilon(run: Run, value: float) -> str:
    kind = run.selector_class
    if "epsilon" not in kind.needs:
        raise Refused(f"{kind.title} does not use ε.")
    if not kind.epsilon_moves:
        raise Refused(f"{kind.title} uses ε from its first question on. Copy the run to change it.")
    if value <= 0 and not _allows_zero_epsilon(run):
        raise Refused(f"{kind.title} needs an ε above 0.")
    less = value > run.epsilon
    costs = "fewer answers, weaker guarantee" if less else "more answers, stronger guarantee"
    reached = _describe_epsilon_reached(run, value)
    return (
        f"ε is {format_figure(value)} instead of {format_figure(run.epsilon)}: {costs}.{reached} "
        f"You can change ε at any time. The target is then: {_describe_guarantee(run, value)}"
    )


def _allows_zero_epsilon(run: Run) -> bool:
    probe = validation.copy_unsaved(run)
    probe.epsilon = 0.0
    return not validation.validate_run(probe, max(run.candidates.count(), run.k + 1))


def _describe_epsilon_reached(run: Run, value: float) -> str:
    last = run.history.order_by("-number").first()
    gap = min(run.best_guarantee.get("epsilon", 1.0), 1.0 if last is None else last.gap)
    reached = gap <= value and not run.enrolling
    return " The run has achieved this already, and ends at its next step." if reached else ""


def _describe_guarantee(run: Run, value: float) -> str:
    workers = run.candidates.filter(gone="", skill=0).count()
    if workers <= run.k:
        return "too few workers are left for a guarantee."
    changed = copy(run)
    changed.epsilon = value
    statement = guarantees.state_guarantee(changed, workers)
    return guarantee_texts.word_target(changed, GuaranteeFacts(statement, workers))


def is_roster_open(run: Run) -> bool:
    return run.enrolling


def describe_enrol_until(run: Run, value: datetime | None) -> str:
    _refuse_unless_open(run)
    if value is None:
        return "The roster no longer closes at a set time. The guarantee does not change."
    for refusal in validation.validate_closing_time(run, value).values():
        raise Refused(refusal)
    at = format_moment(value)
    return (
        f"The roster closes {at}, or later when enough workers have joined. "
        "The guarantee covers the workers on it then."
    )


def describe_enrol_most(run: Run, value: int | None) -> str:
    _refuse_unless_open(run)
    if value is None:
        return "The roster no longer closes at a number of workers. The guarantee does not change."
    if value <= run.k:
        raise Refused(
            f"The roster must have more than {counted(run.k, 'worker')} before it closes."
        )
    return (
        f"The roster closes when {counted(value, 'worker', 'are')} on it. The guarantee "
        "then covers them."
    )


def is_joined_by_link(run: Run) -> bool:
    """Tell if workers may come to the run by its join link."""
    return run.enrolling or run.joined > 0 or bool(run.platform)


def describe_platform(run: Run, value: str) -> str:
    if not value:
        return "The join link takes workers from any platform with a known parameter."
    return f"The join link takes workers from {Platform(value).label}."


def describe_worker_parameter(run: Run, value: str) -> str:
    if not value:
        return "The join link expects the worker’s id in the platform’s usual parameter."
    return f"The join link expects the worker’s id in the parameter “{value}”."


def describe_completion(run: Run, value: str) -> str:
    return f"At the end workers hand in {Completion(value).label}."


def describe_completion_url(run: Run, value: str) -> str:
    return f"The return address is {value or 'the platform’s own'}."


def _refuse_unless_open(run: Run) -> None:
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed: open it first.")
