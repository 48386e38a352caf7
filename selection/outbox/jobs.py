"""Jobs: work that somebody waits for. An edge stores it, Celery performs it, pages poll.

A request to another machine is performed once, so that no request thread waits for a slow server.
Long work is done in turns, and an interrupted turn is done again. Each kind has a function in the
room that it belongs to, decorated with ``perform``.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, Q, QuerySet

from selection import actor, db_clock
from selection.errors import NotFound, Refused, TooMany
from selection.limits import MOST_JOBS
from selection.models import Job, Team

from .celery_messages import AWAITED, send_message

logger = logging.getLogger(__name__)

WAITED = timedelta(minutes=2)  # after which a request has failed that no process took
LONGEST = timedelta(minutes=10)  # after which a request was interrupted: each ends earlier itself
FAILED = "The request failed on the CrowdSelect server; its log has the reason."

State = Job.State
GOING = (State.WAITING, State.WORKING)
# Task, and time after which a message counts as lost, for requests and for jobs that resume: the
# latter is also more than a turn takes.
MESSAGES = {
    False: ("selection.tasks.work_on_job", timedelta(seconds=20)),
    True: ("selection.tasks.work_on_long_job", timedelta(seconds=120)),
}
SAME = ("kind", "subject", "wanted", "by")  # of requests that are made once
ENDING = ("state", "result", "progress", "error", "field", "status")
Row = TypeVar("Row", bound=Model)
AnyJob = TypeVar("AnyJob", bound=Job)
Function = Callable[[Any], Any]
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class JobKind:
    """How the jobs of a kind are performed.

    perform  returns the result as JSON, or raises Refused. It may set another state than WORKING:
             WAITING for another turn, ASKING to wait for a person
    model    of its jobs: Job, or a proxy of it
    rename_workers  replaces the ids of workers in a job by a function of them, or deletes the job
    """

    perform: Function
    model: type[Job] = Job
    rename_workers: Callable[[Any, Callable[[str], str]], None] | None = None


_kinds: dict[str, JobKind] = {}


class TooManyJobs(TooMany):
    """The team waits for enough servers already."""

    seconds = 5


class JobLost(Exception):
    """The job was deleted or changed, or another process has taken it over."""


def perform(*kinds: str, **how: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Let the decorated function do the jobs of these kinds; see JobKind."""

    def register(function: AnyFunction) -> AnyFunction:
        _kinds.update(dict.fromkeys(kinds, JobKind(function, **how)))
        return function

    return register


def is_performed(kind: str) -> bool:
    """Tell if jobs of this kind are performed: an app that is left out performs none."""
    return kind in _kinds


def add_job(job: Job, kept: timedelta = timedelta(hours=1)) -> None:
    """Store a job, and hand it out unless a person must choose first."""
    job.expires = db_clock.database_now() + kept
    job.save(force_insert=True)
    hand_out(job)


def hand_out(job: Job) -> None:
    if job.state == State.WAITING:
        transaction.on_commit(lambda: _send(Job.objects.filter(pk=job.pk)), robust=True)


def _send(rows: QuerySet[Job]) -> None:
    """Send a message for each waiting job; if Redis is unreachable, the sweep does it later."""
    for pk, resumes in list(rows.filter(state=State.WAITING).values_list("pk", "resumes")):
        sent = Job.objects.filter(pk=pk, state=State.WAITING)
        sent.update(sent=db_clock.database_now())
        task, lost = MESSAGES[resumes]
        try:
            # With few workers a message waits for long, and the job is handed out again: without
            # an expiry of the first message there would be ever more of them.
            send_message(task, [str(pk)], expires=lost.total_seconds(), priority=AWAITED)
        except Exception:
            sent.update(sent=None)
            logger.warning("Could not send %s; the sweep will.", task)
            return


def request_job(team: int | None, kind: str, subject: Model, by: str, **wanted: Any) -> Job:
    """Store a job and hand it out; a job that waits for the same already is returned instead.

    Raises TooManyJobs for a team with many jobs.
    """
    assert team is not None  # the subjects of jobs belong to teams
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team)  # others count after this one
        going = list(Job.objects.filter(team=team, state__in=GOING, resumes=False))
        job = Job(team_id=team, kind=kind, subject=subject.pk or 0, by=by, wanted=wanted)
        for other in going:
            if all(getattr(job, name) == getattr(other, name) for name in SAME):
                return other
        if len(going) >= MOST_JOBS:
            raise TooManyJobs(
                f"The team has {MOST_JOBS} requests to other servers in progress, the limit: "
                "try again after a reply."
            )
        add_job(job)
    return job


def cancel_job(job: Job) -> None:
    """Stop the job unless it has ended. Its result so far stays."""
    rows = Job.objects.filter(pk=job.pk, state__in=(*GOING, State.ASKING))
    if rows.update(state=State.CANCELLED):
        job.state = State.CANCELLED


def resume_job(job: Job) -> None:
    """Let a job go on that waits for a person, was cancelled or failed."""
    job.state, job.error, job.status = State.WAITING, "", 0
    job.save(update_fields=["state", "error", "status"])
    hand_out(job)


def find_job(pk: Any, among: QuerySet[AnyJob]) -> AnyJob:
    job = among.filter(pk=pk).defer("content").first()
    if job is None:
        raise NotFound("This has expired; send the request again.")
    return job


def find_row(rows: QuerySet[Row], pk: Any) -> Row:
    """Find the row that a job is about. Raises NotFound if it was deleted meanwhile."""
    row = rows.filter(pk=pk).first()
    if row is None:
        raise NotFound(f"The {rows.model._meta.verbose_name} was deleted meanwhile.")
    return row


def work_on_job(job_id: Any) -> None:
    """Perform a job, or a turn of it. The message may come twice, late or never."""
    waiting = Job.objects.filter(pk=job_id, state=State.WAITING)
    if not waiting.update(state=State.WORKING, sent=db_clock.database_now()):
        return
    kind = _kinds[Job.objects.values_list("kind", flat=True).get(pk=job_id)]
    take_turn(kind.model.objects.get(pk=job_id), kind.perform)


def take_turn(job: Job, function: Function) -> None:
    """Let the function work on a job whose state is WORKING, and store the result."""
    try:
        with actor.acting_as_person(job.by):
            job.result = function(job)
        if job.state == State.WORKING:
            job.state, job.progress = State.DONE, 1
    except JobLost:
        return
    except Refused as refusal:
        job.state, job.error, job.status = State.FAILED, str(refusal), refusal.status
        job.field = getattr(refusal, "field", "")
    except Exception:
        logger.exception("Job %s failed.", job)
        job.state, job.error, job.status = State.FAILED, FAILED, 500
    with suppress(JobLost):
        store_turn(job, *ENDING)
        hand_out(job)


def store_turn(job: Job, *columns: str) -> None:
    """Store these columns while a turn goes on. Raises JobLost."""
    taken = Job.objects.filter(pk=job.pk, state=State.WORKING, sent=job.sent)
    if not taken.update(**{name: getattr(job, name) for name in columns}):
        raise JobLost


def rename_workers(team: int | None, rename: Callable[[str], str]) -> None:
    """Replace the ids of workers in all jobs of a team; a present turn stores nothing any more."""
    for name, kind in _kinds.items():
        if kind.rename_workers:
            rows = kind.model.objects.select_for_update().filter(team=team, kind=name)
            for job in rows:
                kind.rename_workers(job, rename)


def sweep_jobs() -> None:
    """Hand out lost jobs again, fail those without a worker process, and delete old ones."""
    now = db_clock.database_now()
    Job.objects.filter(expires__lt=now).delete()
    error = "No worker process took the request: the administrator can start the process “jobs”."
    waiting = Job.objects.filter(state=State.WAITING, resumes=False, created__lt=now - WAITED)
    waiting.update(state=State.FAILED, error=error, status=503)
    error = "The worker process was interrupted; send the request again."
    working = Job.objects.filter(state=State.WORKING, resumes=False, sent__lt=now - LONGEST)
    working.update(state=State.FAILED, error=error, status=503)
    cut = Job.objects.filter(state=State.WORKING, resumes=True, sent__lt=now - MESSAGES[True][1])
    cut.update(state=State.WAITING, sent=None)
    for resumes, (_, lost) in MESSAGES.items():
        _send(Job.objects.filter(Q(sent=None) | Q(sent__lt=now - lost), resumes=resumes))
