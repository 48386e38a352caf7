"""What was handed out to workers who are not there: it goes back, and says nothing of them."""

import numpy as np
from django.db.models import Max, Q

from selection.models import Assignment

from .arrays import Counts, StepArrays


def blocked_arms(arrays: StepArrays) -> Counts:
    """Arms whose workers are not there and hold what they were never shown: it is to go back.

    That is: of those who are gone, always; of those who are away, when others get something.
    """
    given = (arrays.counts > 0).any()
    away = ~arrays.there & (arrays.counts == 0) & (given | arrays.gone)
    return np.flatnonzero(away & (arrays.unseen > 0))


def take_back(arrays: StepArrays, arms: Counts) -> None:
    """Take back what the workers of these arms were never shown, as if it had not been asked."""
    if arms.size:
        taken = _delete_assignments(arrays, arms)
        arrays.taken, arrays.asked = arrays.taken + taken, arrays.asked - taken
        # Where everybody is waited for, who has seen what is not read.
        arrays.unseen = np.maximum(arrays.unseen - taken, 0)


def _delete_assignments(arrays: StepArrays, arms: Counts) -> Counts:
    """(n,) how many were taken back. Positions stay without a gap: only the last ones go.

    They are locked first, because a worker may arrive in this moment: what is shown meanwhile
    stays.
    """
    ids = arrays.ids[arms].tolist()
    rows = Assignment.objects.filter(candidate__in=ids).order_by()
    kept = dict(
        rows.filter(Q(answer__isnull=False) | ~Q(due=None))
        .values_list("candidate_id")
        .annotate(last=Max("position"))
    )
    unseen = rows.filter(due=None, answer=None).select_for_update(of=("self",))
    found = [
        (pk, candidate)
        for pk, candidate, position in unseen.values_list("id", "candidate_id", "position")
        if position > kept.get(candidate, -1)
    ]
    Assignment.objects.filter(pk__in=[pk for pk, _ in found]).delete()
    arm_of = dict(zip(ids, arms.tolist(), strict=True))
    own = [arm_of[candidate] for _, candidate in found]
    return np.bincount(np.array(own, np.int64), minlength=arrays.ids.size)
