"""Withdraw unseen assignments of absent workers; it does not count against them."""

from datetime import timedelta

import numpy as np
from django.db.models import Max, Q

from selection.answers import uncounted
from selection.models import Assignment

from .arrays import Counts, StepArrays

# A tool that was asked for answers so long ago, or that fails, may have some.
POLLED = timedelta(minutes=2)


def blocked_arms(arrays: StepArrays) -> Counts:
    """Arms whose unseen assignments are withdrawn.

    Always for workers who left; for inactive ones only if this step deals to others.
    """
    dealing = (arrays.counts > 0).any()
    away = ~arrays.present & (arrays.counts == 0) & (dealing | arrays.gone)
    return np.flatnonzero(away & (arrays.unseen > 0))


def take_back(arrays: StepArrays, arms: Counts) -> None:
    """Withdraw the unseen assignments of these arms, as if they had not been asked.

    Those that a worker may be at stay, unless the worker has left the run.
    """
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
    unseen = rows.filter(due=None, answer=None)
    if unseen.exclude(handed=None).exists():
        unseen = unseen.filter(_is_idle(arrays) | ~Q(candidate__gone=""))
    unseen = unseen.select_for_update(of=("self",))
    locked = list(unseen.values_list("id", "candidate_id", "position"))
    others = ~Q(pk__among=[pk for pk, _, _ in locked])
    kept = rows.filter(others | Q(answer__isnull=False) | ~Q(due=None))  # as they are now
    last_kept = dict(kept.values_list("candidate_id").annotate(last=Max("position")))
    deleted = [
        (pk, candidate)
        for pk, candidate, position in locked
        if position > last_kept.get(candidate, -1)
    ]
    uncounted.remember_withdrawn([pk for pk, _ in deleted])
    Assignment.objects.filter(pk__in=[pk for pk, _ in deleted]).delete()
    arm_of = dict(zip(ids, arms.tolist(), strict=True))
    deleted_arms = [arm_of[candidate] for _, candidate in deleted]
    return np.bincount(np.array(deleted_arms, np.int64), minlength=arrays.ids.size)


def _is_idle(arrays: StepArrays) -> Q:
    """Match assignments that no worker can be at, where nobody sees whether they are shown.

    The time to answer has passed since they were handed out, and since the worker was last seen.
    Those at a tool may be answered already: until it was asked, it keeps them.
    """
    since = arrays.now - timedelta(minutes=arrays.run.minutes)
    quiet = Q(candidate__seen=None) | Q(candidate__seen__lt=since)
    link = "outside_task__link__"
    asked = Q(
        **{f"{link}polled__gt": arrays.now - POLLED},
        **{f"{link}connection__problem": "", f"{link}connection__paused": False},
    )
    return Q(handed=None) | (Q(handed__lt=since) & quiet & (Q(outside_task=None) | asked))
