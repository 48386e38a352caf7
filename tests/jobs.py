"""Requests to other machines in tests: performed here, as a Celery worker would."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from selection import tasks as tasks  # registers all kinds of jobs
from selection.models import Job
from selection.outbox import jobs


def perform_jobs() -> None:
    """Perform the waiting jobs."""
    for pk in Job.objects.filter(state=Job.State.WAITING).values_list("pk", flat=True):
        jobs.work_on_job(pk)


def finish_job(response: Any) -> Job:
    """Perform the job that this reply accepted, and return it."""
    assert response.status_code == 202, response.content
    perform_jobs()
    return Job.objects.get(pk=response.json()["id"])


def follow_page(client: Any, response: Any) -> Any:
    """Perform the jobs that a page waits for, and return the page after its redirects."""
    perform_jobs()
    return (
        client.get(response["Location"], follow=True)
        if response.has_header("Location")
        else response
    )


@contextmanager
def job_worker() -> Iterator[None]:
    """Perform jobs in a thread while a program polls."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(0.02):
            perform_jobs()
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
