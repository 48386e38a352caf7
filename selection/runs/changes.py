"""Changes of a run that has started: a preview of the effect on the guarantee, and the change.

``preview_changes`` describes the effect beforehand. ``apply_changes`` makes the change under the
run's lock, writes an Event for each setting, and wakes the engine. δ, K, the algorithm and the
question set define the run: to change one of these, copy the run.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Field, Q
from django.utils import timezone

from selection import db_clock, wakeups
from selection.errors import Conflict, NotFound, Refused
from selection.history import events
from selection.models import Run
from selection.models.answers import has_waiting_answers

from . import algorithm_choices, lifecycle, money, validation

ACTIVE = {Run.Status.RUNNING, Run.Status.PAUSED}
# Neither the engine nor the guarantee depends on these.
AT_ANY_TIME = {"price", "currency"}
GUARANTEE_UNCHANGED = "The promise stays as it is: its bounds hold however many answers there are."


def preview_changes(run: Run, wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return a sentence on the effect of each setting that would change, by name.

    wanted  new values by name, of ``SETTINGS``

    Raises Conflict or Refused, with the reason, for a setting that cannot be changed now.
    """
    if run.status == Run.Status.DRAFT and not AT_ANY_TIME.issuperset(wanted):
        raise Conflict(f"The run “{run}” has not begun: change it in its form.")
    sentences = {}
    for name, value in wanted.items():
        if name not in SETTINGS:
            raise Refused(f"{name} cannot be changed once a run has started: copy the run.")
        if getattr(run, name) == value:
            continue
        free = name in AT_ANY_TIME | {"name", "budget"}
        if run.status not in ACTIVE and not free:
            raise Conflict(
                f"The run “{run}” has ended; its {setting_label(name)} cannot change any more."
            )
        _check_value(run, name, value)
        sentences[name] = SETTINGS[name](run, value)
    return sentences


@transaction.atomic
def apply_changes(
    run: Run, wanted: Mapping[str, Any], who: str = "", why: str = ""
) -> dict[str, str]:
    """Change these settings; return the same sentences, and raise, as ``preview_changes`` does."""
    locked = Run.objects.locked(run.pk)
    if locked is None:
        raise NotFound("This run does not exist any more.")
    sentences = preview_changes(locked, wanted)
    if not sentences:
        return sentences
    _keep_weights(locked, sentences)
    for name, sentence in sentences.items():
        setattr(locked, name, wanted[name])
        events.write_event(locked, name, sentence, who, why)
    locked.save(update_fields=[*sentences, "options"])
    if "budget" in sentences and locked.status == Run.Status.ENDED:
        lifecycle.reopen_run(locked, who, why)
    wakeups.request_step(locked.pk)
    return sentences


def _keep_weights(run: Run, sentences: Mapping[str, str]) -> None:
    """Store the ε that the run began with, to which some algorithms tune their bounds for good."""
    options = {option.name for option in run.selector_class.known_options}
    if "epsilon" in sentences and "tuned_for" in options:
        run.options.setdefault("tuned_for", run.epsilon)


def setting_label(name: str) -> str:
    return str(_model_field(name).verbose_name)


def _model_field(name: str) -> "Field[Any, Any]":
    field = Run._meta.get_field(name)
    assert isinstance(field, Field)
    return field


def _check_value(run: Run, name: str, value: Any) -> None:
    """Raise Refused for a value that is invalid for this setting in every run."""
    if name in validation.HARMLESS and value is not None:
        probe = Run(k=1)
        setattr(probe, name, value)
        for refusal in validation.find_out_of_range(probe, 2).values():
            raise Refused(refusal)
    try:
        _model_field(name).clean(value, run)
    except ValidationError as error:
        raise Refused(f"{setting_label(name).capitalize()}: {' '.join(error.messages)}") from error
    if name == "name":
        for refusal in validation.validate_name(
            Run(pk=run.pk, team_id=run.team_id, name=value)
        ).values():
            raise Refused(refusal)


# -- the effect of each setting


def _describe_name(run: Run, value: str) -> str:
    return f"The run “{run.name}” is called “{value}” from now on. Nothing else changes."


def _describe_budget(run: Run, value: int | None) -> str:
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


def _describe_price(run: Run, value: Decimal | None) -> str:
    if value is None:
        return "What an answer costs is not known any more. Nothing else changes."
    new = money.format_amount(value, run.currency)
    old = "" if run.price is None else f" instead of {money.format_amount(run.price, run.currency)}"
    return f"An answer costs {new}{old}. Nothing else changes: the budget counts answers."


def _describe_currency(run: Run, value: str) -> str:
    return f"Amounts are told in {value or 'no currency'}. No number changes."


def _describe_slots(run: Run, value: int) -> str:
    return _describe_open_assignments(
        f"At most {value:,} assignments are out at once, instead of {run.slots:,}."
    )


def _describe_slots_per_worker(run: Run, value: int) -> str:
    old = run.slots_per_worker
    return _describe_open_assignments(
        f"A worker holds at most {value:,} at once, instead of {old:,}."
    )


def _describe_open_assignments(now: str) -> str:
    return f"{now} What is out stays out. The promise stays as it is: it does not depend on this."


def _describe_minutes(run: Run, value: int) -> str:
    return (
        f"Who is shown a question from now on has {value:,} minutes, instead of {run.minutes:,}; "
        "who has one before them keeps the time that they were told. What is measured is to be "
        "right in time: the promise takes answers before and after the change to be alike."
    )


def _describe_hours_to_come(run: Run, value: float | None) -> str:
    if value is None:
        return "Everybody is waited for from now on. The promise is about all who are in the run."
    since = db_clock.database_now() - timedelta(hours=value)
    silent = run.candidates.filter(
        Q(seen__lt=since) | Q(seen=None, run__absence_since__lt=since), gone="", verdict=0
    ).exclude(has_waiting_answers(run))
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


def _describe_epsilon(run: Run, value: float) -> str:
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


def _describe_enrol_until(run: Run, value: datetime | None) -> str:
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


def _describe_enrol_most(run: Run, value: int | None) -> str:
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


SETTINGS: dict[str, Callable[[Run, Any], str]] = {
    "name": _describe_name,
    "budget": _describe_budget,
    "price": _describe_price,
    "currency": _describe_currency,
    "slots": _describe_slots,
    "slots_per_worker": _describe_slots_per_worker,
    "minutes": _describe_minutes,
    "hours_to_come": _describe_hours_to_come,
    "epsilon": _describe_epsilon,
    "enrol_until": _describe_enrol_until,
    "enrol_most": _describe_enrol_most,
}
