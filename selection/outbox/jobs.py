"""Requests to other machines, as jobs: no request thread waits for a slow server.

An edge stores a job and answers at once; Celery performs it; pages and programs poll. Each kind has
a function in the room that it belongs to, decorated with ``perform``.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, Q, QuerySet

from selection import actor, db_clock
from selection.errors import NotFound, Refused, TooMany
from selection.limits import MOST_JOBS
from selection.models import Job, Team

from .queues import WorkQueue

logger = logging.getLogger(__name__)

WAITED = timedelta(minutes=2)  # after which a waiting job has failed
LONGEST = timedelta(minutes=10)  # after which a job was interrupted: each ends earlier by itself
KEPT = timedelta(hours=1)
FAILED = "The request failed on the CrowdSelect server; its log has the reason."

State = Job.State
GOING = (State.WAITING, State.WORKING)
QUEUE = WorkQueue(
    Job, "selection.tasks.work_on_job", Q(state=State.WAITING), timedelta(seconds=20), KEPT
)
SAME = ("kind", "subject", "wanted", "by")  # of jobs that are performed once
Row = TypeVar("Row", bound=Model)
Function = Callable[[Job], Any]
_functions: dict[str, Function] = {}


class TooManyJobs(TooMany):
    """The team waits for enough servers already."""

    seconds = 5


def perform(kind: str) -> Callable[[Function], Function]:
    """Let the decorated function do the jobs of this kind; it returns JSON, or raises Refused."""

    def register(function: Function) -> Function:
        _functions[kind] = function
        return function

    return register


def request_job(team: int | None, kind: str, subject: Model, by: str, **wanted: Any) -> Job:
    """Store a job and hand it out; a job that waits for the same already is returned instead.

    Raises TooManyJobs for a team with many jobs.
    """
    assert team is not None  # the subjects of jobs belong to teams
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team)  # others count after this one
        going = list(Job.objects.filter(team=team, state__in=GOING))
        job = Job(team_id=team, kind=kind, subject=subject.pk or 0, by=by, wanted=wanted)
        for other in going:
            if all(getattr(job, name) == getattr(other, name) for name in SAME):
                return other
        if len(going) >= MOST_JOBS:
            raise TooManyJobs(
                f"The team has {MOST_JOBS} requests to other servers in progress, the limit: "
                "try again after a reply."
            )
        job.save()
        handed = Job.objects.filter(pk=job.pk)
        transaction.on_commit(lambda: QUEUE.hand_out(handed), robust=True)
    return job


def find_job(pk: Any, among: QuerySet[Job]) -> Job:
    job = among.filter(pk=pk).first()
    if job is None:
        raise NotFound("The request has expired; send the request again.")
    return job


def find_row(rows: QuerySet[Row], pk: Any) -> Row:
    """Find the row that a job is about. Raises NotFound if it was deleted meanwhile."""
    row = rows.filter(pk=pk).first()
    if row is None:
        raise NotFound(f"The {rows.model._meta.verbose_name} was deleted meanwhile.")
    return row


def work_on_job(job_id: Any) -> None:
    """Perform a job. The message may come twice, late or never; a job is performed once."""
    waiting = Job.objects.filter(pk=job_id, state=State.WAITING)
    if not waiting.update(state=State.WORKING, sent=db_clock.database_now()):
        return
    job = Job.objects.get(pk=job_id)
    try:
        with actor.acting_as_person(job.by):
            result = _functions[job.kind](job)
        _end_job(job, State.DONE, result=result)
    except Refused as refusal:
        field = getattr(refusal, "field", "")
        _end_job(job, State.FAILED, error=str(refusal), field=field, status=refusal.status)
    except Exception:
        logger.exception("Job %s failed.", job)
        _end_job(job, State.FAILED, error=FAILED, status=500)


def show_progress(job: Job, result: Any) -> None:
    Job.objects.filter(pk=job.pk, state=State.WORKING).update(result=result)


def _end_job(job: Job, state: State, **values: Any) -> None:
    Job.objects.filter(pk=job.pk, state=State.WORKING).update(state=state, **values)


def sweep_jobs() -> None:
    """Hand out lost jobs again, fail those without a worker process, and delete old ones."""
    now = db_clock.database_now()
    error = "No worker process took the request: the administrator can start the process “jobs”."
    waiting = Job.objects.filter(state=State.WAITING)
    waiting.filter(created__lt=now - WAITED).update(state=State.FAILED, error=error, status=503)
    error = "The worker process was interrupted; send the request again."
    working = Job.objects.filter(state=State.WORKING, sent__lt=now - LONGEST)
    working.update(state=State.FAILED, error=error, status=503)
    QUEUE.sweep()
