"""Webhook messages about a step."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selection import webhooks
from selection.answers import presence
from selection.history import notifications
from selection.models import Assignment, Candidate, Run, Webhook
from selection.webhooks import Message
from topk import Verdict

from .arrays import StepArrays

Kind = Webhook.Event


def notify_step(arrays: StepArrays, verdict: NDArray[np.int8], known: NDArray[np.bool_]) -> None:
    """Write the messages about decided workers and new questions, after the step is saved.

    known  (n,) flags of the arms whose finding is told already: only a rejection is new
    """
    changed = (verdict != arrays.verdict) & ~(known & (verdict == Verdict.ACCEPTED))
    decided = arrays.ids[changed].tolist()
    dealt = arrays.counts.any() and not arrays.run.recorded_only
    if decided or dealt:
        webhooks.write_messages(
            arrays.run, lambda kinds: _verdict_messages(arrays.run, decided, kinds)
        )


def _verdict_messages(run: Run, decided: list[int], kinds: Collection[str]) -> Iterator[Message]:
    rows = run.candidates.select_related("worker").order_by("arm")
    if decided and {Kind.ACCEPTED, Kind.REJECTED} & set(kinds):
        few = rows.filter(pk__in=decided) if len(decided) < 500 else rows
        yield from notifications.verdict_messages(
            run, [row for row in few if row.pk in set(decided)]
        )
    if Kind.OPENED in kinds:
        yield from _opened_messages(run)


def _opened_messages(run: Run) -> Iterator[Message]:
    """Yield a message for each worker and skill with new assignments in this step."""
    assignments: dict[int, list[dict[str, Any]]] = defaultdict(list)
    dealt = Assignment.objects.filter(candidate__run=run, step=run.steps).open()
    presence.record_handed(dealt.values_list("id", flat=True))
    columns = dealt.order_by("id").values_list("candidate_id", "id", "question__key")
    for candidate, pk, question in columns:
        assignments[candidate].append({"assignment": pk, "question": question})
    for row in Candidate.objects.filter(run=run).select_related("worker").order_by("arm"):
        if row.pk in assignments:
            yield Message(
                Kind.OPENED,
                notifications.worker_payload(run, row) | {"assignments": assignments[row.pk]},
            )
