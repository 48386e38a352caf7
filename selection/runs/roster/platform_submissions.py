"""Submission statuses from a platform: workers that left there stop blocking the run."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from selection.errors import Refused
from selection.grading.keys import PROLIFIC_ID
from selection.history import events
from selection.models import Candidate, Platform, Run, plain_key

from .membership import drop_workers, lock_active_run, refuse_over

# Statuses of Prolific and MTurk, in capitals and with spaces instead of dashes.
LEFT_STATUSES = {
    "RETURNED",
    "TIMED OUT",
    "ABANDONED",
    "ASSIGNMENTRETURNED",
    "ASSIGNMENTABANDONED",
}


@dataclass(frozen=True)
class FreedAssignments:
    """The result of a report.

    freed    workers that the run stops waiting for
    unknown  workers that left but are not in this run
    others   number of workers with another status, or that had left before, or have a verdict
    """

    freed: list[str]
    unknown: list[str]
    others: int


@dataclass(frozen=True)
class Preview(FreedAssignments):
    """The effect of ``report_submissions``, and the number of ids that are workers of this run.

    matched  none mostly means that the file is from another study
    total    ids in the file
    strange  ids of a run at Prolific that are none of Prolific
    """

    matched: int
    total: int
    strange: list[str]


def has_left(status: str) -> bool:
    return status.strip().upper().replace("-", " ").replace("_", " ") in LEFT_STATUSES


@transaction.atomic
def report_submissions(
    run: Run, statuses: Mapping[str, str], who: str = "", why: str = ""
) -> FreedAssignments:
    """Mark workers that returned their place, or let its time run out, as having left.

    statuses  by worker's key, in the platform's words

    Their unseen assignments are withdrawn; their answers stay. A repeated report changes nothing.
    Raises Conflict for a run that is not going on, Refused for an empty report.
    """
    locked = lock_active_run(run)
    result, present = _sort_statuses(locked, statuses)
    if result.freed:
        drop_workers(locked, sorted(present), Candidate.Gone.LEFT)
        freed = ", ".join(result.freed)
        events.write_event(
            locked, "leave", f"Returned or timed out on the platform: {freed}.", who, why
        )
    return result


def preview(run: Run, statuses: Mapping[str, str]) -> Preview:
    """Compute the effect of ``report_submissions``, and raise as it does; change nothing."""
    refuse_over(run)
    result, _ = _sort_statuses(run, statuses)
    rows = run.candidates.filter(worker__key__in=statuses, skill=0)
    keys = {plain_key(key) for key in statuses}
    matched = keys & set(rows.values_list("worker__key", flat=True))
    at_prolific = run.platform == Platform.PROLIFIC
    strange = [key for key in sorted(keys) if at_prolific and not PROLIFIC_ID.fullmatch(key)]
    return Preview(result.freed, result.unknown, result.others, len(matched), len(keys), strange)


def _sort_statuses(run: Run, statuses: Mapping[str, str]) -> tuple[FreedAssignments, set[int]]:
    if not statuses:
        raise Refused("The list is empty: enter workers with their submission status.")
    gave_up = [plain_key(key) for key, status in statuses.items() if has_left(status)]
    rows = run.candidates.filter(worker__key__in=gave_up, skill=0)
    workers = dict(rows.values_list("worker__key", "worker_id"))
    open_to = run.candidates.filter(gone="", verdict=Candidate.Verdicts.UNDECIDED)
    present = set(open_to.filter(worker__in=workers.values()).values_list("worker_id", flat=True))
    freed = [key for key in gave_up if workers.get(key) in present]
    unknown = [key for key in gave_up if key not in workers]
    return FreedAssignments(freed, unknown, len(statuses) - len(freed) - len(unknown)), present
