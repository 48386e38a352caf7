"""Pages that wait for a request to another machine: ``selection/job.html`` shows its progress."""

from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode

from selection.accounts import MEMBER, scoped
from selection.models import Job


def find_own_job(request: HttpRequest, *kinds: str) -> Job | None:
    jobs = scoped(Job, request, MEMBER).filter(by=request.user.get_username())
    return find_named_job(request, jobs.filter(kind__in=kinds))


def find_named_job(request: HttpRequest, jobs: QuerySet[Any], name: str = "job") -> Any:
    """Find the job that the address names, or None."""
    try:
        return jobs.filter(pk=UUID(request.GET.get(name, ""))).first()
    except ValueError:
        return None


def follow_job(request: HttpRequest, job: Job, anchor: str = "", **query: Any) -> HttpResponse:
    return redirect(f"{request.path}?{urlencode(query | {'job': job.pk})}{anchor}")


class JobMixin:
    """Page that shows a job of its object.

    job_kinds  kinds of the jobs that it shows
    """

    job_kinds: tuple[str, ...] = ()
    request: HttpRequest
    object: Any

    @cached_property
    def job(self) -> Job | None:
        job = find_own_job(self.request, *self.job_kinds)
        return job if job is not None and self.is_about(job) else None

    def is_about(self, job: Job) -> bool:
        return bool(job.subject == self.object.pk)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        result = None if self.job is None else self.job.result
        facts: dict[str, Any] = super().get_context_data(job=self.job, **kwargs)  # type: ignore[misc]
        return {"result": result} | facts
