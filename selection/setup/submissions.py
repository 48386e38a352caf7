"""What a platform says became of its participants: who left is waited for no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from selection.errors import Refused
from selection.models import Candidate, Run, plain_key, spellings

from . import events
from .roster import drop, going

# What platforms call it, in capitals and with spaces for dashes: Prolific, and MTurk's notices.
LEFT = {
    "RETURNED",
    "TIMED OUT",
    "ABANDONED",
    "ASSIGNMENTRETURNED",
    "ASSIGNMENTABANDONED",
}


@dataclass(frozen=True)
class Freed:
    """freed    workers who are waited for no more by this
    unknown  of those who left, who is not in this run
    others   how many had another status, had left before, or are judged already
    """

    freed: list[str]
    unknown: list[str]
    others: int


def left(status: str) -> bool:
    return status.strip().upper().replace("-", " ").replace("_", " ") in LEFT


@transaction.atomic
def report(run: Run, statuses: Mapping[str, str], who: str = "", why: str = "") -> Freed:
    """Take those who returned their place, or let its time run out, as having left.

    statuses  by worker's key, as the platform says it

    What they were never shown goes back; answers that they gave stay. To say it twice changes
    nothing. Raises Conflict for a run that is not going on, Refused for nobody at all.
    """
    if not statuses:
        raise Refused("Nobody is named: give workers with what became of their submissions.")
    locked = going(run)
    gave_up = [plain_key(key) for key, status in statuses.items() if left(status)]
    rows = locked.candidates.filter(worker__key__in=spellings(gave_up), skill=0)
    known = {plain_key(key): pk for key, pk in rows.values_list("worker__key", "worker_id")}
    open_to = locked.candidates.filter(gone="", verdict=Candidate.Verdicts.UNDECIDED)
    there = set(open_to.filter(worker__in=known.values()).values_list("worker_id", flat=True))
    freed = [key for key in gave_up if known.get(key) in there]
    if freed:
        drop(locked, sorted(there), Candidate.Gone.LEFT)
        named = ", ".join(freed)
        events.write(locked, "leave", f"Returned or timed out on the platform: {named}.", who, why)
    unknown = [key for key in gave_up if key not in known]
    return Freed(freed, unknown, len(statuses) - len(freed) - len(unknown))
