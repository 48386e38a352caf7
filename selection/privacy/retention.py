"""Retention periods of personal data, by the settings; 0 days: no limit."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import actor, db_clock
from selection.facts import Facts
from selection.history import events
from selection.models import (
    DELETED,
    Answer,
    AuditEntry,
    Candidate,
    GoldAnswer,
    PracticeAnswer,
    QuestionReport,
    RecordedAnswer,
    Run,
    WatchedWorker,
    Worker,
)
from selection.models.audit import AuditQuerySet
from selection.texts import counted

from .erasure import erase_worker
from .identity import same_people

PART = "retention"
AT_ONCE = 500  # workers per sweep; the rest follows in the next one


def count_due(now: datetime | None = None) -> Facts:
    now = now or db_clock.database_now()
    runs = _due_runs(now)
    return Facts(
        workers=_due_workers(now).count(),
        addresses=_due_entries(now).count(),
        runs=runs.count(),
        responses=Answer.objects.filter(run__in=runs).responded().count() + _due_gold(now).count(),
    )


def apply_retention() -> Facts:
    """Erase due data, up to the limit of one sweep; return the counts from before."""
    now = db_clock.database_now()
    counts = count_due(now)
    with actor.acting_as_part(PART):
        for rows in _due_people(now):
            erase_worker(rows, PART, f"their runs ended {settings.PERSONAL_DATA_DAYS} days ago")
        _due_entries(now).forget(address="")
        for run in list(_due_runs(now)):
            _forget_responses(run)
        _due_gold(now).update(response=DELETED)
        _due_practice(now).update(response="")
    return counts


# -- workers


def _due_workers(now: datetime) -> QuerySet[Worker]:
    """Find due workers: of an id in a team all rows or none, since they are one person."""
    if settings.PERSONAL_DATA_DAYS <= 0:
        return Worker.objects.none()
    since = now - timedelta(days=settings.PERSONAL_DATA_DAYS)
    team = OuterRef("pool__team")
    participations = Candidate.objects.filter(worker__key=OuterRef("key"), worker__pool__team=team)
    recent = participations.exclude(run__status=Run.Status.ENDED, run__ended__lt=since)
    watched = WatchedWorker.objects.filter(worker__key=OuterRef("key"), worker__pool__team=team)
    in_watch = watched.filter(Q(watch__stopped=None) | Q(watch__stopped__gte=since))
    took_part = Exists(participations) | Exists(watched)
    present = in_watch.exclude(state=WatchedWorker.State.LEFT)
    return Worker.objects.filter(took_part).exclude(Exists(recent)).exclude(Exists(present))


def _due_people(now: datetime) -> list[list[Worker]]:
    """Group the rows of due workers by person, so that each gets one pseudonym."""
    rows = _due_workers(now).order_by("pool__team", "key", "pk").values_list("key", "pool__team")
    people = dict.fromkeys(rows[:AT_ONCE])
    return same_people(people)


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
    answered = Answer.objects.filter(run=OuterRef("pk")).responded()
    by_run = {"candidate__run": OuterRef("pk")}
    waiting = RecordedAnswer.objects.filter(**by_run)
    tried = PracticeAnswer.objects.filter(**by_run).exclude(response="")
    complaints = QuestionReport.objects.filter(assignment__candidate__run=OuterRef("pk"))
    has_responses = Exists(answered) | Exists(waiting) | Exists(tried) | Exists(complaints)
    return ended.filter(has_responses).order_by("pk")


def _due_gold(now: datetime) -> QuerySet[GoldAnswer]:
    """Return answers of watches that are due: each by itself, since a watch may last for years."""
    if settings.RESPONSES_DAYS <= 0:
        return GoldAnswer.objects.none()
    old = GoldAnswer.objects.filter(at__lt=now - timedelta(days=settings.RESPONSES_DAYS))
    return old.exclude(response__in=("", DELETED))


def _due_practice(now: datetime) -> QuerySet[PracticeAnswer]:
    if settings.RESPONSES_DAYS <= 0:
        return PracticeAnswer.objects.none()
    since = now - timedelta(days=settings.RESPONSES_DAYS)
    return PracticeAnswer.objects.filter(candidate=None, at__lt=since).exclude(response="")


@transaction.atomic
def _forget_responses(run: Run) -> None:
    """Delete the responses of a run.

    Grades stay, since the run's result rests on them. So do the answers themselves: they are paid.
    """
    locked = Run.objects.locked(run.pk)
    if locked is None or locked.status != Run.Status.ENDED:
        return
    count = Answer.objects.filter(run=locked).responded().update(response=DELETED)
    RecordedAnswer.objects.filter(candidate__run=locked).delete()
    PracticeAnswer.objects.filter(candidate__run=locked).update(response="")
    QuestionReport.objects.filter(assignment__candidate__run=locked).delete()
    after = f"{settings.RESPONSES_DAYS} days after the end"
    events.write_event(
        locked, PART, f"{counted(count, 'response', 'were')} deleted, {after}. Grades stay."
    )
