"""Known groups of workers by an attribute, each with a population of its own; a start fixes them.

Workers without the attribute are a group as well.
"""

from collections.abc import Iterable

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.models import Run, Worker
from selection.texts import counted

from . import eligibility, quotas


def validate_groups(run: Run) -> dict[str, str]:
    """Return the fault of a run with groups, by field: of its rule or of its workers.

    With an open roster the workers are not known yet.
    """
    if not run.grouped_by:
        return {}
    if not algorithms.takes_groups(run.algorithm):
        able = [ALGORITHMS[name].title for name in ALGORITHMS if algorithms.takes_groups(name)]
        title = run.selector_class.title
        return {"grouped_by": f"{title} knows no groups of workers; {' and '.join(able)} does."}
    reason = "" if run.enrolling else _refuse_workers(run)
    return {"grouped_by": reason} if reason else {}


def _refuse_workers(run: Run) -> str:
    labels = quotas.attribute_values(eligibility.eligible_workers(run), run.grouped_by)
    groups = len(set(labels))
    if set(labels) == {quotas.NOT_GIVEN}:
        return f"No worker of this pool has the attribute “{run.grouped_by}”."
    if groups == len(labels) > 1:
        return (
            f"By “{run.grouped_by}” every worker would be a group of their own, and no answer "
            "would tell anything of another worker: choose an attribute that workers share."
        )
    if groups > quotas.MOST_VALUES:
        return (
            f"“{run.grouped_by}” has {counted(groups, 'value')}, but there can be at most "
            f"{counted(quotas.MOST_VALUES, 'group')}: choose an attribute with fewer."
        )
    return ""


def list_groups(run: Run, workers: Iterable[Worker]) -> list[str]:
    """Return the label of the group of each of these workers."""
    return [quotas.value_of(worker.attributes, run.grouped_by) for worker in workers]
