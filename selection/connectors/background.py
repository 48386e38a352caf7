"""Requests of pages and programs to the other side, as jobs: no request thread waits for it."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from selection.models import Connection, Job, Pool, QuestionSet, Run, RunConnection, Watch
from selection.outbox import jobs

from . import accounts, links, reading, watch_links
from .platforms import prolific

SAVED = ("name", "address", "settings", "secrets_encrypted")
# Kinds of jobs about a connection.
SAVE, CHECK, SOURCES, GOLD, WORKERS, PAST, CONNECT, CONNECT_WATCH = (
    "save_connection",
    "check_connection",
    "sources",
    "read_gold",
    "read_workers",
    "read_past",
    "connect_run",
    "connect_watch",
)
DRY_RUN = "prolific_dry_run"


def request_save(connection: Connection, by: str, **values: Any) -> Job:
    """Set these values, and hand out the check after which the connection is stored.

    values  see ``accounts.set_connection``

    Raises FieldRefused for a wrong value. The result has the connection's id and the account.
    """
    accounts.set_connection(connection, **values)
    columns = {name: getattr(connection, name) for name in SAVED}
    return request_call(connection, SAVE, by, tool=connection.kind, **columns)


def request_call(connection: Connection, kind: str, by: str, **wanted: Any) -> Job:
    """Hand out a job of this kind. Raises Conflict for a paused connection."""
    reading.refuse_paused(connection)
    return jobs.request_job(connection.team_id, kind, connection, by, **wanted)


def request_dry_run(link: RunConnection, url: str, due: Mapping[str, Any], by: str) -> Job:
    """Hand out a dry run of Prolific: see ``prolific.dry_run``."""
    reading.refuse_paused(link.connection)
    amounts = {worker: str(amount) for worker, amount in due.items()}
    team = link.connection.team_id
    return jobs.request_job(team, DRY_RUN, link.run, by, link=link.pk, url=url, due=amounts)


def find_connection(job: Job) -> Connection:
    return jobs.find_row(Connection.objects.all(), job.subject)


@jobs.perform(SAVE)
def _save(job: Job) -> dict[str, Any]:
    new = Connection(team_id=job.team_id, kind=job.wanted["tool"])
    connection = find_connection(job) if job.subject else new
    for name in SAVED:
        setattr(connection, name, job.wanted[name])
    account = accounts.check_account(connection)
    accounts.clean_name(connection, connection.name)  # it may be taken meanwhile
    accounts.store_connection(connection)
    return {"connection": connection.pk, "account": account}


@jobs.perform(CHECK)
def _check(job: Job) -> dict[str, Any]:
    connection = find_connection(job)
    account = accounts.check_account(connection)
    accounts.pause_connection(connection, connection.paused)
    return {"account": account}


@jobs.perform(SOURCES)
def _list_sources(job: Job) -> list[dict[str, Any]]:
    return [asdict(source) for source in reading.list_sources(find_connection(job))]


@jobs.perform(GOLD)
def _read_gold(job: Job) -> dict[str, Any]:
    """Read into the question set, or into a new one of this name."""
    connection, order = find_connection(job), job.wanted
    if "question_set" in order:
        target = jobs.find_row(QuestionSet.objects.all(), order["question_set"])
        return {"stored": reading.import_gold(target, connection, order["source"])}
    question_set = reading.create_question_set(connection, order["name"], order["source"])
    return {"stored": question_set.questions.count(), "question_set": question_set.pk}


@jobs.perform(WORKERS)
def _read_workers(job: Job) -> dict[str, Any]:
    """Read into the pool, or into a new one."""
    connection, order = find_connection(job), job.wanted
    if "pool" in order:
        pool = jobs.find_row(Pool.objects.all(), order["pool"])
        return {"stored": reading.import_workers(pool, connection, order["source"])}
    people = reading.create_pool(connection)
    return {"stored": people.workers.count(), "pool": people.pk}


@jobs.perform(CONNECT)
def _connect_run(job: Job) -> dict[str, Any]:
    run = jobs.find_row(Run.objects.all(), job.wanted["run"])
    link = links.connect_run(run, find_connection(job), job.wanted["settings"], job.by)
    return {"connection": link.connection_id, "settings": link.settings}


@jobs.perform(CONNECT_WATCH)
def _connect_watch(job: Job) -> dict[str, Any]:
    watch = jobs.find_row(Watch.objects.all(), job.wanted["watch"])
    settings = job.wanted["settings"]
    link = watch_links.connect_watch(watch, find_connection(job), settings, job.by)
    return {"connection": link.connection_id, "settings": link.settings}


@jobs.perform(DRY_RUN)
def _dry_run(job: Job) -> list[dict[str, Any]]:
    link = jobs.find_row(RunConnection.objects.all(), job.wanted["link"])
    due = {worker: Decimal(amount) for worker, amount in job.wanted["due"].items()}
    return [asdict(call) for call in prolific.dry_run(link, job.wanted["url"], due)]
