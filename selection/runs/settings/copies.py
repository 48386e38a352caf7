"""A draft with the settings of another run: the way to change fixed settings of a started run."""

from django.db import transaction

from selection.errors import Refused
from selection.models import ModelSpending, Run, Skill

from . import drafts
from .run_settings import RUN_SETTINGS

FIELDS = (*(setting.name for setting in RUN_SETTINGS if setting.copied), "quotas", "belief")
# Computed at the start of a run or later, so not settings.
DERIVED_OPTIONS = ("quotas", "prices", "groups", "tuned_for")


@transaction.atomic
def copy_run(run: Run, name: str, same_seed: bool = False, who: str = "", why: str = "") -> Run:
    """Create a draft of the same settings under this name, without the platform's completion codes.

    same_seed  deal the same questions in the same order; else the copy gets its own seed

    Raises Refused for a name that is taken or invalid, and for settings that no longer fit the
    pool.
    """
    name = name.strip()
    if not name or len(name) > 200:
        raise Refused("Give the copy a name of 1 to 200 characters.")
    settings = {field: getattr(run, field) for field in FIELDS} | {
        "name": name,
        "seed": run.seed if same_seed else drafts.new_seed(),
        "options": {key: run.options[key] for key in run.options if key not in DERIVED_OPTIONS},
        "page": {key: value for key, value in run.page.items() if key != "codes"},
        "enrolling": run.enrolling or run.joined > 0,
    }
    further = [Skill(question_set=each.question_set, k=each.k) for each in run.skills[1:]]
    seed = "the same seed" if same_seed else "a seed of its own"
    said = f"Copied from the run “{run}”, with {seed}."
    copied = drafts.create_draft(settings, further, said, who, why, kind="copy")
    for limit in ModelSpending.objects.filter(run=run).values_list("limit", flat=True):
        ModelSpending.objects.create(run=copied, limit=limit)
    return copied


def free_name(run: Run) -> str:
    """Return a name for the copy that is still free."""
    return drafts.free_name(f"{run.name[:180]}, copy", run.team_id, sign=" {}")
