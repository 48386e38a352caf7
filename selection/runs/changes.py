"""Changes of a run that has started: a preview of the effect on the guarantee, and the change.

``preview_changes`` describes the effect beforehand. ``apply_changes`` makes the change under the
run's lock, writes an Event for each setting, and wakes the engine. The
sentences are in ``run_settings`` and ``change_effects``.
"""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from selection import wakeups
from selection.answers import recording
from selection.errors import Conflict, Refused
from selection.history import events
from selection.models import Run
from selection.runs.roster import join_platforms
from selection.runs.roster.membership import lock_active_run
from selection.runs.settings import validation
from selection.runs.settings.run_settings import CHANGEABLE, RUN_SETTINGS, RunSetting, Section, When

from . import lifecycle

ACTIVE = {Run.Status.RUNNING, Run.Status.PAUSED}
FIXED = "{name} cannot change after the run started. Copy the run instead."
SWITCHED = (
    "Imported answers only from now on: workers get no more questions. Unseen open assignments "
    "are closed; a question that a worker has seen may still be answered in time."
)


def changeable_settings(run: Run) -> list[RunSetting]:
    active = run.status in ACTIVE
    return [
        setting
        for setting in CHANGEABLE.values()
        if (active or setting.when is not When.ACTIVE)
        and (setting.applies is None or setting.applies(run))
    ]


def preview_changes(run: Run, wanted: Mapping[str, Any]) -> dict[str, str]:
    """Describe the effect of each setting that would change, by name.

    wanted  new values by name, of ``run_settings.CHANGEABLE``

    Raises Conflict or Refused, with the reason, for a setting that cannot be changed now.
    """
    if run.status == Run.Status.DRAFT and not all(_may_change_in_draft(name) for name in wanted):
        raise Conflict(f"The run “{run}” is a draft: edit it in its form.")
    sentences = {}
    for name, value in wanted.items():
        if name not in CHANGEABLE:
            raise Refused(FIXED.format(name=name))
        setting = CHANGEABLE[name]
        if getattr(run, name) == value:
            continue
        if run.status not in ACTIVE and setting.when is When.ACTIVE:
            label = setting.column.verbose_name
            raise Conflict(f"The run “{run}” has ended; its {label} cannot change.")
        _check_value(run, setting, value)
        sentences[name] = setting.describe_change(run, value)
    _check_platform(run, {name: wanted[name] for name in sentences})
    return sentences


def _check_platform(run: Run, changed: Mapping[str, Any]) -> None:
    """Raise Refused if the platform settings would not fit together."""
    names = [setting.name for setting in RUN_SETTINGS if setting.section is Section.ARRIVING]
    if not set(names) & changed.keys():
        return
    probe = Run(**{name: changed.get(name, getattr(run, name)) for name in names})
    faults = join_platforms.validate_platform(probe) | join_platforms.validate_way_back(probe)
    for refusal in faults.values():
        raise Refused(refusal)


def _may_change_in_draft(name: str) -> bool:
    return name in CHANGEABLE and CHANGEABLE[name].when is When.ALWAYS


@transaction.atomic
def apply_changes(
    run: Run, wanted: Mapping[str, Any], who: str = "", why: str = ""
) -> dict[str, str]:
    """Change these settings; return the same sentences, and raise, as ``preview_changes`` does."""
    locked = Run.objects.lock(run.pk)
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


def _check_value(run: Run, setting: RunSetting, value: Any) -> None:
    name = setting.name
    if name in validation.HARMLESS and value is not None:
        probe = Run(k=1)
        setattr(probe, name, value)
        for refusal in validation.find_out_of_range(probe, 2).values():
            raise Refused(refusal)
    try:
        setting.column.clean(value, run)
    except ValidationError as error:
        raise Refused(f"{setting.title}: {' '.join(error.messages)}") from error
    if name == "name":
        for refusal in validation.validate_name(
            Run(pk=run.pk, team_id=run.team_id, name=value)
        ).values():
            raise Refused(refusal)


# -- the switch to *Only answers made elsewhere*


def may_use_recorded_only(run: Run) -> bool:
    """Tell if the run asks through pages now and could do without."""
    closed = run.status in ACTIVE and not run.recorded_only and not run.enrolling
    return closed and not run.selector_class.common_order


@transaction.atomic
def use_recorded_only(run: Run, who: str = "") -> None:
    """Switch the run; no effect if it is switched already.

    Raises Conflict for a run that has ended or has an open roster.
    """
    locked = lock_active_run(run)
    if locked.recorded_only:
        return
    if locked.enrolling:
        raise Conflict(f"The roster of the run “{run}” is open: close it first.")
    recording.refuse_waiting(locked)
    locked.recorded_only = run.recorded_only = True
    locked.save(update_fields=["recorded_only"])
    events.write_event(locked, "recorded only", SWITCHED, who)
    wakeups.request_step(locked.pk)
