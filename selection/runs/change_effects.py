"""Effect of a changed setting on a started run: a sentence, or a refusal.

δ, K, the algorithm and the question set define the run: to change one of these, copy the run.
"""

from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from selection import db_clock
from selection.errors import Conflict, Refused
from selection.models import Heartbeat, Run

from . import algorithm_choices, money, roster, validation

GUARANTEE_UNCHANGED = "The promise stays as it is: its bounds hold however many answers there are."
OPEN_ASSIGNMENTS_STAY = (
    "What is out stays out. The promise stays as it is: it does not depend on this."
)


def may_change_budget(run: Run) -> bool:
    """Return True if the run has a budget that can change, and would matter."""
    return not run.fixed_budget and (run.status != Run.Status.ENDED or run.may_be_raised)


def describe_budget(run: Run, value: int | None) -> str:
    title = run.selector_class.title
    if run.fixed_budget:
        raise Refused(
            f"{title} plans with its budget from the start, so it cannot change: copy the run."
        )
    ended = run.status == Run.Status.ENDED
    if ended and not run.may_be_raised:
        raise Conflict(f"The run ended because {run.why_ended}: another budget changes nothing.")
    used = run.count_spent()
    if value is not None and value < used:
        raise Refused(f"{used:,} assignments are handed out already; it cannot be less than that.")
    if value is None:
        now = f"There is no limit any more, after {_format_budget(run.budget)}."
    else:
        now = (
            f"The budget is {value:,} instead of {_format_budget(run.budget)}: {value - used:,} "
            "more assignments may be handed out."
        )
    lowered = value is not None and (run.budget is None or value < run.budget)
    early = " If it is spent first, the run ends with what it can promise by then."
    goes_on = " The run goes on." if ended else ""
    return f"{now}{goes_on} {GUARANTEE_UNCHANGED}{early if lowered else ''}"


def _format_budget(budget: int | None) -> str:
    return "no limit" if budget is None else f"{budget:,}"


def describe_price(run: Run, value: Decimal | None) -> str:
    if value is None:
        return "What an answer costs is not known any more. Nothing else changes."
    new = money.format_amount(value, run.currency)
    old = "" if run.price is None else f" instead of {money.format_amount(run.price, run.currency)}"
    return f"An answer costs {new}{old}. Nothing else changes: the budget counts answers."


def describe_currency(run: Run, value: str) -> str:
    return f"Amounts are told in {value or 'no currency'}. No number changes."


def describe_hours_to_come(run: Run, value: float | None) -> str:
    if value is None:
        return "Everybody is waited for from now on. The promise is about all who are in the run."
    now = Heartbeat.objects.time_taken(db_clock.database_now())
    silent = roster.silent_candidates(run, value, now)
    count = 0 if run.enrolling else silent.values("worker").distinct().count()
    affected = f" By now that is so of up to {count}." if count else ""
    text = (
        f"A worker of whom nothing is seen for {value:g} hours is taken as gone.{affected} Who is "
        "gone is neither accepted nor rejected, and the promise is about the others; it takes it "
        "that staying away has nothing to do with how good a worker is."
    )
    if not run.covers_withdrawal:
        text += " If answers of somebody who is gone had counted, the run has no guarantee."
    return text


def may_move_epsilon(run: Run) -> bool:
    """Return True if the algorithm's bounds hold for every ε at once."""
    return "epsilon" in run.selector_class.needs and run.selector_class.epsilon_moves


def describe_epsilon(run: Run, value: float) -> str:
    kind = run.selector_class
    if "epsilon" not in kind.needs:
        raise Refused(f"{kind.title} does not use ε: there is nothing to change.")
    if not kind.epsilon_moves:
        raise Refused(
            f"{kind.title} has used ε from its first question on, so it cannot change: copy the "
            "run."
        )
    if value <= 0 and not _allows_zero_epsilon(run):
        raise Refused(f"{kind.title} needs an ε above 0.")
    less = value > run.epsilon
    costs = "fewer answers, for a weaker promise" if less else "more answers, for a stronger one"
    reached = _describe_epsilon_reached(run, value)
    return (
        f"ε is {value:g} instead of {run.epsilon:g}: {costs}.{reached} Choosing it after having "
        "seen answers costs nothing, since what is proved of them holds for every ε "
        f"at once. The promise is then: {_describe_guarantee(run, value)}"
    )


def _allows_zero_epsilon(run: Run) -> bool:
    probe = validation.copy_unsaved(run)
    probe.epsilon = 0.0
    return not validation.validate_run(probe, max(run.candidates.count(), run.k + 1))


def _describe_epsilon_reached(run: Run, value: float) -> str:
    last = run.history.order_by("-number").first()
    gap = min(run.proof.get("epsilon", 1.0), 1.0 if last is None else last.gap)
    reached = gap <= value and not run.enrolling
    return " So much is reached already, so the run ends at its next step." if reached else ""


def _describe_guarantee(run: Run, value: float) -> str:
    workers = max(run.candidates.filter(gone="", skill=0).count(), run.k + 1)
    probe = validation.copy_unsaved(run)
    probe.options = {name: value for name, value in run.options.items() if name != "quotas"}
    probe.epsilon = value
    return algorithm_choices.guarantee_sentence(probe, probe.selector(workers).promise, workers)


def is_roster_open(run: Run) -> bool:
    return run.enrolling


def describe_enrol_until(run: Run, value: datetime | None) -> str:
    _refuse_unless_open(run)
    if value is None:
        return "The roster does not close by the clock any more. The promise stays as it is."
    for refusal in validation.validate_closing_time(run, value).values():
        raise Refused(refusal)
    at = f"{timezone.localtime(value):%d %b %Y, %H:%M %Z}"
    return (
        f"The roster closes {at}, or as soon after as enough have joined. "
        "The promise is about those who are on it then."
    )


def describe_enrol_most(run: Run, value: int | None) -> str:
    _refuse_unless_open(run)
    if value is None:
        return "The roster closes with no number of workers any more. The promise stays as it is."
    if value <= run.k:
        raise Refused(f"The roster must hold more than the {run.k} wanted before it closes.")
    return (
        f"The roster closes as soon as {value:,} workers are on it. The promise is then about them."
    )


def _refuse_unless_open(run: Run) -> None:
    if not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed: open it first.")
