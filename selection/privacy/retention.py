"""What was kept long enough, by the settings; 0 days: it is kept."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from selection import actor
from selection.history import events
from selection.models import (
    DELETED,
    Answer,
    AuditEntry,
    Candidate,
    Complaint,
    PracticeAnswer,
    RecordedAnswer,
    Run,
    Worker,
    plain_key,
    stored_spellings,
)
from selection.models.audit import AuditQuerySet
from selection.runs.eligibility import ODD

from .erasure import erase_worker
from .identity import same_people

PART = "retention"
AT_ONCE = 500  # workers: the rest is for the next time


@dataclass(frozen=True)
class RetentionCounts:
    """Rows whose time is over.

    workers    who were in runs, all of which ended that long ago
    addresses  entries of the audit log with one
    runs       with responses, ended that long ago; how many responses they hold
    """

    workers: int
    addresses: int
    runs: int
    responses: int


def count_due(now: datetime | None = None) -> RetentionCounts:
    """Changes nothing."""
    now = now or timezone.now()
    runs = _due_runs(now)
    return RetentionCounts(
        workers=_due_workers(now).count(),
        addresses=_due_entries(now).count(),
        runs=runs.count(),
        responses=_due_responses(runs).count(),
    )


def apply_retention(now: datetime | None = None) -> RetentionCounts:
    """Take away what is due, as much as one turn takes; returns what was due before."""
    now = now or timezone.now()
    found = count_due(now)
    with actor.acting_as_part(PART):
        for rows in _due_people(now):
            erase_worker(rows, PART, f"their runs ended {settings.PERSONAL_DATA_DAYS} days ago")
        _due_entries(now).forget(address="")
        for run in list(_due_runs(now)):
            _forget_responses(run)
    return found


# -- workers


def _due_workers(now: datetime) -> QuerySet[Worker]:
    """All rows of an id in a team, or none: they are one person."""
    if settings.PERSONAL_DATA_DAYS <= 0:
        return Worker.objects.none()
    since = now - timedelta(days=settings.PERSONAL_DATA_DAYS)
    team = OuterRef("pool__team")
    mine = Candidate.objects.filter(worker__key=OuterRef("key"), worker__pool__team=team)
    still = mine.exclude(run__status=Run.Status.ENDED, run__ended__lt=since)
    rows = Worker.objects.filter(Exists(mine)).exclude(Exists(still))
    return rows.exclude(pk__in=_is_used_elsewhere(rows, since))


def _is_used_elsewhere(rows: QuerySet[Worker], since: datetime) -> list[int]:
    """Of these, those whose id is in use where its accents or spaces are written otherwise."""
    odd = list(rows.filter(key__regex=ODD).values_list("pk", "key", "pool__team"))
    held: set[tuple[str, int]] = set()
    for start in range(0, len(odd), AT_ONCE):
        keys = stored_spellings(key for _, key, _ in odd[start : start + AT_ONCE])
        using = Candidate.objects.filter(worker__key__in=keys).exclude(
            run__status=Run.Status.ENDED, run__ended__lt=since
        )
        found = using.order_by().values_list("worker__key", "worker__pool__team").distinct()
        held |= {(plain_key(key), team) for key, team in found}
    return [pk for pk, key, team in odd if (plain_key(key), team) in held]


def _due_people(now: datetime) -> list[list[Worker]]:
    """All rows of one id in one team together, so that they get one pseudonym."""
    rows = _due_workers(now).order_by("pool__team", "key", "pk").values_list("key", "pool__team")
    known = dict.fromkeys((plain_key(key), team) for key, team in rows[:AT_ONCE])
    return same_people(known)


# -- addresses


def _due_entries(now: datetime) -> AuditQuerySet:
    if settings.AUDIT_ADDRESS_DAYS <= 0:
        return AuditEntry.objects.none()
    since = now - timedelta(days=settings.AUDIT_ADDRESS_DAYS)
    return AuditEntry.objects.filter(at__lt=since).exclude(address="")


# -- responses


def _due_runs(now: datetime) -> QuerySet[Run]:
    if settings.RESPONSES_DAYS <= 0:
        return Run.objects.none()
    since = now - timedelta(days=settings.RESPONSES_DAYS)
    ended = Run.objects.filter(status=Run.Status.ENDED, ended__lt=since)
    given = Answer.objects.filter(run=OuterRef("pk")).responded()
    mine = {"candidate__run": OuterRef("pk")}
    waiting = RecordedAnswer.objects.filter(**mine)
    tried = PracticeAnswer.objects.filter(**mine).exclude(response="")
    complaints = Complaint.objects.filter(assignment__candidate__run=OuterRef("pk"))
    words = Exists(given) | Exists(waiting) | Exists(tried) | Exists(complaints)
    return ended.filter(words).order_by("pk")


def _due_responses(runs: QuerySet[Run]) -> QuerySet[Answer]:
    return Answer.objects.filter(run__in=runs).responded()


@transaction.atomic
def _forget_responses(run: Run) -> None:
    """Grades stay: what was counted is what the run's end rests on. So does it that an answer was
    given, for it is paid."""
    locked = Run.objects.locked(run.pk)
    if locked is None or locked.status != Run.Status.ENDED:
        return
    count = Answer.objects.filter(run=locked).responded().update(response=DELETED)
    RecordedAnswer.objects.filter(candidate__run=locked).delete()
    PracticeAnswer.objects.filter(candidate__run=locked).update(response="")
    Complaint.objects.filter(assignment__candidate__run=locked).delete()
    after = f"{settings.RESPONSES_DAYS} days after the end"
    events.write_event(locked, PART, f"{count} responses were deleted, {after}. Grades stay.")
