"""Erasure and export of workers' data in messages."""

from collections.abc import Callable, Sequence
from typing import Any

from selection.models import Candidate, Worker

from .models import Mail, OptOut, worker_digest


def forget_workers(rows: Sequence[Worker], pseudonym: str, replace: Callable[[str], str]) -> None:
    """Forget the workers' addresses and names; the opt-out of an address stays."""
    Mail.objects.filter(candidate__worker__in=rows).update(digest="", said="")
    mails = list(Mail.objects.filter(watch__workers__worker__in=rows).distinct())
    for mail in mails:
        mail.words = replace(mail.words)
    Mail.objects.bulk_update(mails, ["words"], 500)
    team = rows[0].pool.team_id
    digests = [worker_digest(team, row.key) for row in rows]
    OptOut.objects.filter(team=team, digest__in=digests).delete()


def list_messages(row: Candidate) -> dict[str, Any]:
    mails = [
        {"kind": mail.kind, "sent": mail.sent and mail.sent.isoformat(), "outcome": mail.outcome}
        for mail in row.mails.order_by("pk")
    ]
    return {"messages": mails} if mails else {}
