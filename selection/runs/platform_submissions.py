"""What a platform says became of its participants: who left is waited for no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from selection.errors import Refused
from selection.history import events
from selection.models import Candidate, Run, plain_key, stored_spellings

from .roster import drop_workers, lock_active_run, refuse_over

# What platforms call it, in capitals and with spaces for dashes: Prolific, and MTurk's notices.
LEFT = {
    "RETURNED",
    "TIMED OUT",
    "ABANDONED",
    "ASSIGNMENTRETURNED",
    "ASSIGNMENTABANDONED",
}


@dataclass(frozen=True)
class FreedAssignments:
    """freed    workers who are waited for no more by this
    unknown  of those who left, who is not in this run
    others   how many had another status, had left before, or are judged already
    """

    freed: list[str]
    unknown: list[str]
    others: int


@dataclass(frozen=True)
class Preview:
    """What ``report`` would do, and how many of the file's ids are workers of this run.

    matched  None of them matching mostly means that the file is of another study
    total    ids in the file
    """

    freed: list[str]
    unknown: list[str]
    others: int
    matched: int
    total: int


def has_left(status: str) -> bool:
    return status.strip().upper().replace("-", " ").replace("_", " ") in LEFT


@transaction.atomic
def report_submissions(
    run: Run, statuses: Mapping[str, str], who: str = "", why: str = ""
) -> FreedAssignments:
    """Take those who returned their place, or let its time run out, as having left.

    statuses  by worker's key, as the platform says it

    What they were never shown goes back; answers that they gave stay. To say it twice changes
    nothing. Raises Conflict for a run that is not going on, Refused for nobody at all.
    """
    locked = lock_active_run(run)
    found, there = _sort_statuses(locked, statuses)
    if found.freed:
        drop_workers(locked, sorted(there), Candidate.Gone.LEFT)
        named = ", ".join(found.freed)
        events.write_event(
            locked, "leave", f"Returned or timed out on the platform: {named}.", who, why
        )
    return found


def preview(run: Run, statuses: Mapping[str, str]) -> Preview:
    """Say what ``report`` would do, and raise as it does; changes nothing."""
    refuse_over(run)
    found, _ = _sort_statuses(run, statuses)
    named = run.candidates.filter(worker__key__in=stored_spellings(statuses), skill=0)
    keys = {plain_key(key) for key in statuses}
    matched = keys & {plain_key(key) for key in named.values_list("worker__key", flat=True)}
    return Preview(found.freed, found.unknown, found.others, len(matched), len(keys))


def _sort_statuses(run: Run, statuses: Mapping[str, str]) -> tuple[FreedAssignments, set[int]]:
    """Return what would become of the workers, and the ids of those who would be dropped."""
    if not statuses:
        raise Refused("Nobody is named: give workers with what became of their submissions.")
    gave_up = [plain_key(key) for key, status in statuses.items() if has_left(status)]
    rows = run.candidates.filter(worker__key__in=stored_spellings(gave_up), skill=0)
    known = {plain_key(key): pk for key, pk in rows.values_list("worker__key", "worker_id")}
    open_to = run.candidates.filter(gone="", verdict=Candidate.Verdicts.UNDECIDED)
    there = set(open_to.filter(worker__in=known.values()).values_list("worker_id", flat=True))
    freed = [key for key in gave_up if known.get(key) in there]
    unknown = [key for key in gave_up if key not in known]
    return FreedAssignments(freed, unknown, len(statuses) - len(freed) - len(unknown)), there
