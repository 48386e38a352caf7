"""Workers that a rule for a pass mark has found, said at once: their verdicts come with the end.

A found worker has ``decided_in`` and ``decided_why`` without a verdict, and keeps both if accepted.
"""

import numpy as np
from numpy.typing import NDArray

from selection import webhooks
from selection.history import notifications
from selection.models import Candidate, pass_marks
from topk import Verdict

from .arrays import StepArrays


def find_known(arrays: StepArrays) -> NDArray[np.bool_]:
    """Find (n,) flags of the arms that earlier steps found, and that have no verdict."""
    if not arrays.run.selector_class.takes_mark:
        return np.zeros(arrays.ids.size, bool)
    rows = arrays.run.candidates.filter(decided_in__isnull=False, verdict=0)
    return np.isin(arrays.ids, list(rows.values_list("pk", flat=True)))


def note_finds(arrays: StepArrays, known: NDArray[np.bool_]) -> None:
    """Note the workers that this step finds, and tell the webhooks, before the end of the run."""
    run, selector = arrays.run, arrays.selector
    if run.finished or selector is None or not run.selector_class.takes_mark:
        return
    places = selector.selection()
    arms = arrays.roster.arms[places]
    new = ~known[arms] & (arrays.verdict[arms] == Verdict.UNDECIDED)
    means = dict(zip(arrays.ids[arms[new]].tolist(), selector.means[places[new]], strict=True))
    rows = list(run.candidates.filter(pk__in=means).select_related("worker").order_by("arm"))
    for row in rows:
        row.decided_in, row.decided_why = run.steps, pass_marks.describe_find(run, means[row.pk])
    Candidate.objects.bulk_update(rows, ["decided_in", "decided_why"])
    if rows:
        webhooks.write_messages(run, lambda kinds: notifications.find_messages(run, rows))
