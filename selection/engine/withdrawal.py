"""Withdraw unseen assignments of absent workers; it does not count against them."""

import numpy as np
from django.db.models import Max, Q

from selection.models import Assignment

from .arrays import Counts, StepArrays


def blocked_arms(arrays: StepArrays) -> Counts:
    """Arms whose unseen assignments are withdrawn.

    Always for workers who left; for inactive ones only if this step deals to others.
    """
    dealing = (arrays.counts > 0).any()
    away = ~arrays.present & (arrays.counts == 0) & (dealing | arrays.gone)
    return np.flatnonzero(away & (arrays.unseen > 0))


def take_back(arrays: StepArrays, arms: Counts) -> None:
    """Withdraw the unseen assignments of these arms, as if they had not been asked."""
    if arms.size:
        counts = _delete_assignments(arrays, arms)
        arrays.withdrawn, arrays.asked = arrays.withdrawn + counts, arrays.asked - counts
        # ``unseen`` is not read if the run waits for everybody.
        arrays.unseen = np.maximum(arrays.unseen - counts, 0)


def _delete_assignments(arrays: StepArrays, arms: Counts) -> Counts:
    """Count (n,) the deleted assignments. Only the last positions go, so no gap arises.

    Rows are locked first, because a worker may arrive at this moment, or a late reply of a model:
    assignments shown or answered meanwhile stay.
    """
    ids = arrays.ids[arms].tolist()
    rows = Assignment.objects.filter(candidate__in=ids).order_by()
    unseen = rows.filter(due=None, answer=None).select_for_update(of=("self",))
    locked = list(unseen.values_list("id", "candidate_id", "position"))
    last_kept = dict(
        rows.filter(Q(answer__isnull=False) | ~Q(due=None))
        .values_list("candidate_id")
        .annotate(last=Max("position"))
    )
    deleted = [
        (pk, candidate)
        for pk, candidate, position in locked
        if position > last_kept.get(candidate, -1)
    ]
    Assignment.objects.filter(pk__in=[pk for pk, _ in deleted]).delete()
    arm_of = dict(zip(ids, arms.tolist(), strict=True))
    deleted_arms = [arm_of[candidate] for _, candidate in deleted]
    return np.bincount(np.array(deleted_arms, np.int64), minlength=arrays.ids.size)
