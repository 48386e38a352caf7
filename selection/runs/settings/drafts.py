"""Drafts: every way to create a run ends in ``create_draft``; changes to a run that cannot end."""

import secrets
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from selection.algorithms import ALGORITHMS, VARIED, describe_unknown, options_of_variant
from selection.errors import Conflict, Refused
from selection.history import events
from selection.model_workers import askable
from selection.models import ModelSpending, Run, Skill
from selection.runs import money
from selection.runs.roster import eligibility, join_platforms, worker_prices
from topk import THIS_SET
from topk.accuracy import MOST_QUESTIONS

from . import algorithm_choices, validation
from .run_settings import INITIAL, RUN_SETTINGS, SETTINGS, STORED

CHEAPEST_ON_SET = "universal"
COPIED = (*(setting.name for setting in RUN_SETTINGS if setting.copied), "quotas", "belief")
# Computed at the start of a run or later, so not settings.
DERIVED_OPTIONS = ("quotas", "prices", "tuned_for")
CHANGEABLE = ("algorithm", "epsilon", "budget")
# Validated by ``validation``, or filled in later.
VALIDATED_ELSEWHERE = (
    *validation.HARMLESS,
    *("pool", "question_set", "team", "options", "quotas", "belief"),
)


@transaction.atomic
def create_draft(
    settings: Mapping[str, Any],
    further: Sequence[Skill] = (),
    said: str = "",
    who: str = "",
    why: str = "",
    kind: str = "create",
) -> Run:
    """Store and return a draft of these settings, see ``build_draft``.

    further     the skills it tests besides its own question set, in order
    said, kind  an entry in its history; none if empty

    Raises Refused for settings that are invalid or that no algorithm can be run on.
    """
    run = create_run(build_draft(settings), further)
    if said:
        events.write_event(run, kind, said, who, why)
    return run


@transaction.atomic
def create_run(run: Run, further: Sequence[Skill] = ()) -> Run:
    """Store a new run, as a draft; ``create_draft`` builds it from its settings.

    further  the skills it tests besides its own question set, in order

    Raises Refused for settings that no algorithm can be run on.
    """
    _validate_new_run(run, further)
    run.save(force_insert=True)
    _store_skills(run, further)
    return run


@transaction.atomic
def replace_draft(run: Run, wanted: Run, further: Sequence[Skill] = (), who: str = "") -> Run:
    """Give a draft all settings of a run that is not stored; return the changed draft.

    Raises Conflict once it has begun, Refused as ``create_run`` does.
    """
    draft = _lock_draft(run)
    for name in STORED:
        setattr(draft, name, getattr(wanted, name))
    _validate_new_run(draft, further)
    draft.save(update_fields=STORED)
    draft.further.all().delete()
    _store_skills(draft, further)
    events.write_event(draft, "draft", "All settings were given anew before the start.", who)
    return draft


def _validate_new_run(run: Run, further: Sequence[Skill]) -> None:
    """Raise Refused for settings that no algorithm can be run on."""
    for reason in find_faults(run, further).values():
        raise Refused(reason)


def find_faults(
    run: Run, further: Sequence[Skill] = (), workers: int | None = None
) -> dict[str, str]:
    """Find the reasons, by field, for which this run cannot be stored.

    workers  the number of eligible ones, if it is known
    """
    first = Skill(question_set=run.question_set, k=run.k)
    run.skills = [first, *further]
    if workers is None:
        workers = eligibility.count_eligible(run)
    faults = validation.validate_run(run, workers) | validation.validate_quotas(run)
    faults |= worker_prices.validate_prices(run)
    faults |= validation.validate_skills(run, len(further))
    faults |= validation.validate_team(run, further) | validation.validate_name(run)
    faults |= validation.validate_closing_time(run, run.enrol_until)
    return faults | join_platforms.validate_platform(run)


def _store_skills(run: Run, further: Sequence[Skill]) -> None:
    for number, skill in enumerate(further, 1):
        skill.run, skill.number = run, number
        skill.save()
    del run.skills  # cached: read the stored rows again


def _lock_draft(run: Run) -> Run:
    """Lock the draft. Raises NotFound, or Conflict once it has begun."""
    locked = Run.objects.lock(run.pk)
    if locked.status != Run.Status.DRAFT:
        state = locked.get_status_display().lower()
        raise Conflict(f"The run “{locked}” has begun, and is {state}: copy it for other settings.")
    return locked


def build_draft(settings: Mapping[str, Any]) -> Run:
    """Build a run of these settings without storing it.

    settings  by name, of ``run_settings``; omitted ones get the value of a new draft. Besides:
              options  of the algorithm, by name
              quotas, belief, page

    Raises Refused for a value that is invalid in every run; for the rest see
    ``create_run``.
    """
    values = dict(settings)
    options = dict(values.pop("options", {}))
    if not values["name"].strip():
        raise Refused("The name is empty.")
    run = Run(**_initial_settings(values) | values)
    if run.algorithm not in ALGORITHMS:
        raise Refused(describe_unknown(run.algorithm))
    run.options = algorithm_choices.drop_default_options(run.algorithm, options)
    try:
        run.clean_fields(exclude=VALIDATED_ELSEWHERE)
    except ValidationError as error:
        name, messages = next(iter(error.message_dict.items()))
        raise Refused(f"{SETTINGS[name].title}: {messages[0]}") from error
    return run


@transaction.atomic
def copy_run(
    run: Run,
    name: str,
    same_seed: bool = False,
    who: str = "",
    why: str = "",
    changes: Mapping[str, Any] | None = None,
) -> Run:
    """Create a draft of the same settings under this name, without the platform's completion codes.

    same_seed  deal the same questions in the same order; else the copy gets its own seed
    changes    settings in which the copy differs

    Raises Refused for a name that is taken or invalid, and for settings that no longer fit the
    pool.
    """
    name = name.strip()
    if not name or len(name) > 200:
        raise Refused("Give the copy a name of 1 to 200 characters.")
    settings = {field: getattr(run, field) for field in COPIED} | {
        "name": name,
        "seed": run.seed if same_seed else new_seed(),
        "options": {key: run.options[key] for key in run.options if key not in DERIVED_OPTIONS},
        "page": {key: value for key, value in run.page.items() if key != "codes"},
        "enrolling": run.enrolling or run.joined > 0,
        **(changes or {}),
    }
    further = [Skill(question_set=each.question_set, k=each.k) for each in run.skills[1:]]
    seed = "the same seed" if same_seed else "a seed of its own"
    note = f"Copied from the run “{run}”, with {seed}."
    copied = create_draft(settings, further, note, who, why, kind="copy")
    for limit in ModelSpending.objects.filter(run=run).values_list("limit", flat=True):
        ModelSpending.objects.create(run=copied, limit=limit)
    return copied


def name_copy(run: Run) -> str:
    return free_name(f"{run.name[:180]}, copy", run.team_id, sign=" {}")


def default_for_models(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Complete a new draft's settings by the defaults for a pool of models alone.

    The guarantee is then about this question set, if the set allows that, because it needs no
    models that err independently; and ``universal`` is the cheapest rule there.
    """
    values, questions = dict(settings), settings["question_set"]
    if askable.has_models_only(values["pool"]):
        values = askable.count_slots(values["pool"]) | values
    many = questions.questions.count() > MOST_QUESTIONS or questions.most_workers is not None
    if many or not askable.has_models_only(values["pool"]):
        return values
    if not values.get("quotas"):
        values.setdefault("algorithm", CHEAPEST_ON_SET)
    kind = ALGORITHMS.get(values.get("algorithm", ""))
    if kind is not None and kind.says_accuracy:
        values["options"] = {VARIED: THIS_SET} | dict(values.get("options", {}))
    return values


def _initial_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the values of a new draft that are not those of the columns."""
    worked_out: dict[str, Any] = {"seed": new_seed()}
    if "currency" not in given:
        worked_out["currency"] = money.last_currency(Run.objects.filter(team=given["pool"].team_id))
    return INITIAL | worked_out


def new_seed() -> int:
    return secrets.randbelow(2**31)


def free_name(wanted: str, team: int | None, model: Any = Run, sign: str = ", {}") -> str:
    """Append a number to this name by ``sign`` if an object of the team has it."""
    wanted = wanted[:190]
    similar = model.objects.filter(team=team, name__startswith=wanted)
    return number_name(wanted, set(similar.values_list("name", flat=True)), sign)


def number_name(wanted: str, used: set[str], sign: str) -> str:
    """Append to this name by ``sign`` the first number that makes it an unused one."""
    names = [wanted, *(wanted + sign.format(number) for number in range(2, len(used) + 3))]
    return next(name for name in names if name not in used)


@transaction.atomic
def change_draft(run: Run, wanted: dict[str, Any], meant: str | None = None, who: str = "") -> Run:
    """Give a draft another algorithm, ε or budget (of ``CHANGEABLE``), or variant of its guarantee.

    meant  the variant, in the words of ``algorithms.variant``; "" the usual one

    Options of the previous algorithm are dropped. Raises Conflict once the run has begun, Refused
    if it cannot be run with the new settings.
    """
    locked = _lock_draft(run)
    for why in _apply_change(locked, wanted, meant).values():
        raise Refused(why)
    locked.save(update_fields=[*CHANGEABLE, "options"])
    changes = [f"{name} {getattr(locked, name) or 'without limit'}" for name in wanted]
    changes += [f"guarantee {meant}"] if meant else []
    events.write_event(locked, "draft", f"Changed before the start: {', '.join(changes)}.", who)
    return locked


def is_possible(run: Run, wanted: dict[str, Any], meant: str | None = None) -> bool:
    """Tell if ``change_draft`` would not be refused."""
    return not _apply_change(copy(run), wanted, meant)


def _apply_change(run: Run, wanted: dict[str, Any], meant: str | None) -> dict[str, str]:
    """Set the attributes of the run; return its faults then, by field."""
    if wanted.get("algorithm", run.algorithm) != run.algorithm:
        run.options = {}
    for name in CHANGEABLE:
        if name in wanted:
            setattr(run, name, wanted[name])
    _set_variant(run, meant)
    return validation.validate_stored_run(run, eligibility.count_eligible(run))


def _set_variant(run: Run, meant: str | None) -> None:
    if meant is not None:
        usual = {name: value for name, value in run.options.items() if name != VARIED}
        run.options = usual | options_of_variant(meant)
