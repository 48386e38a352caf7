"""Webhook messages about a run's workers and its end."""

from collections.abc import Iterable, Iterator
from typing import Any

from selection import webhooks
from selection.models import Candidate, Run, Webhook
from selection.webhooks import Message

Kind = Webhook.Event
Verdicts = Candidate.Verdicts
KINDS: dict[int, str] = {Verdicts.ACCEPTED: Kind.ACCEPTED, Verdicts.REJECTED: Kind.REJECTED}


def worker_payload(run: Run, row: Candidate) -> dict[str, Any]:
    return {"worker": row.worker.key, "skill": str(run.skills[row.skill]) if run.several else None}


def verdict_messages(run: Run, rows: Iterable[Candidate]) -> Iterator[Message]:
    for row in rows:
        if row.verdict in KINDS and row.pulls:
            yield _verdict_message(run, row, KINDS[row.verdict])


def find_messages(run: Run, rows: Iterable[Candidate]) -> Iterator[Message]:
    """Say that these workers are accepted, although their verdicts come with the run's end."""
    return (_verdict_message(run, row, Kind.ACCEPTED) for row in rows)


def _verdict_message(run: Run, row: Candidate, kind: str) -> Message:
    data = {"by": "algorithm", "reason": row.decided_why, "step": row.decided_in}
    return Message(kind, worker_payload(run, row) | data)


def notify_manual_verdict(run: Run, row: Candidate) -> None:
    if row.by_hand is not None:
        kind = KINDS[row.by_hand]
        data = {"by": "hand", "reason": row.by_hand_why, "step": run.steps}
        webhooks.write_messages(run, lambda kinds: [Message(kind, worker_payload(run, row) | data)])


def notify_ended(run: Run) -> None:
    """Send a message that the run ended. Called before it is saved, in the same transaction."""
    data = {"ending": run.ending, "reason": run.why_ended, "guarantee_kept": run.certified}
    webhooks.write_messages(
        run, lambda kinds: [Message(Kind.ENDED, data | {"ended_at": run.ended})]
    )
