"""Erasure of a worker's identity: answers, verdicts and guarantees stay under a pseudonym."""

import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q

from selection import audit, db_clock, extensions
from selection.errors import Refused
from selection.facts import Facts
from selection.imports import commit
from selection.models import (
    AuditEntry,
    Candidate,
    Connection,
    ConnectorCall,
    Delivery,
    Endpoint,
    Event,
    OutsideWorker,
    QuestionReport,
    Run,
    RunConnection,
    Upload,
    UploadedRow,
    Watch,
    WatchConnection,
    WatchedMember,
    WatchedWorker,
    Worker,
    plain_key,
)
from selection.outbox import jobs
from selection.runs.roster import membership, previews

from .identity import entries_of, events_of, listing_runs, mention_pattern, runs_of

Replace = Callable[[str], str]


def preview_erasure(rows: Sequence[Worker]) -> list[tuple[Run, str]]:
    """List the runs that an erasure withdraws the worker from, each with its effect there."""
    effects = []
    for run in runs_of(rows):
        with suppress(Refused):
            effects.append((run, previews.preview_withdrawal(run, [rows[0].key], for_good=True)))
    return effects


@transaction.atomic
def erase_worker(rows: list[Worker], who: str, why: str = "") -> Facts:
    """Erase a worker's identity, and return the outcome.

    rows  of ``same_person``: at least one, all with one id in one team

    Id, names and attributes go wherever they are stored, and links stop working. Unfinished runs
    withdraw the worker, unless an algorithm in rounds has accepted them. Pools do not count the row
    any more, so that no run asks the pseudonym.
    """
    pseudonym = f"erased-{secrets.token_hex(6)}"
    pattern = mention_pattern({row.key for row in rows} | {row.name for row in rows})

    def replace(text: str) -> str:
        return pattern.sub(pseudonym, text)

    runs, entries, events = list(runs_of(rows)), list(entries_of(rows)), list(events_of(rows))
    _forget_rows(rows, pseudonym)
    _forget_words(rows, events, replace)
    _forget_uploads(rows)
    _forget_jobs(rows, pseudonym)
    for data in extensions.PERSONAL_DATA:
        data.erase(rows, pseudonym, replace)
    _forget_lists(rows, pseudonym)
    _forget_messages(rows, replace)
    changed = _forget_entries(entries, rows, pseudonym, replace)
    withdrawn = [str(run) for run in runs if _withdraw_erased(run, pseudonym, who, why)]
    for row in rows:
        row.refresh_from_db()
        after = {"withdrawn from": withdrawn} if withdrawn else {}
        audit.record_entry("erased", row, who=who, after=after, why=why)
    return Facts(
        pseudonym=pseudonym, runs=[str(run) for run in runs], withdrawn=withdrawn, entries=changed
    )


def _forget_rows(rows: list[Worker], pseudonym: str) -> None:
    workers = Worker.with_erased.filter(pk__in=[row.pk for row in rows])
    empty = {"name": "", "attributes": {}, "mail_address": ""}
    workers.update(key=pseudonym, erased=db_clock.database_now(), **empty)
    Endpoint.objects.filter(worker__in=rows).delete()
    OutsideWorker.objects.filter(worker__in=rows).update(outside_id="", notes={})
    WatchedMember.objects.filter(watched__worker__in=rows).update(outside_id="", pause="")
    watched = WatchedWorker.objects.filter(worker__in=rows)
    for watch in sorted(set(watched.values_list("watch", flat=True))):
        Watch.objects.lock(watch)  # against a step, which writes states
    watched.update(state=WatchedWorker.State.LEFT, why="")
    Candidate.objects.filter(worker__in=rows).update(
        link_version=F("link_version") + 1, platform="", task=""
    )


def _forget_words(rows: list[Worker], events: list[Event], replace: Replace) -> None:
    """Replace the names in texts; an algorithm's reasons for verdicts name nobody."""
    team = rows[0].pool.team_id
    places: list[tuple[Iterable[Model], list[str]]] = [
        (events, ["what", "why"]),
        (QuestionReport.objects.filter(assignment__candidate__worker__in=rows), ["text"]),
        (Candidate.objects.filter(worker__in=rows), ["by_hand_why"]),
        (Connection.objects.filter(team=team).exclude(problem=""), ["problem"]),
        (RunConnection.objects.filter(run__team=team), ["problem", "memory"]),
        (WatchConnection.objects.filter(watch__team=team), ["problem", "memory"]),
    ]
    for texts, names in places:
        for row in texts:
            old = {name: getattr(row, name) for name in names}
            new = {name: _replace_in_value(value, replace) for name, value in old.items()}
            for name, value in new.items():
                limit = getattr(row._meta.get_field(name), "max_length", None)
                new[name] = value[:limit] if limit else value
            if new != old:
                type(row)._base_manager.filter(pk=row.pk).update(**new)


def _forget_uploads(rows: list[Worker]) -> None:
    """Delete files that name the worker.

    Pending files all go, because their names are known only once they are read; imported files go
    if they name the worker, so that they cannot be undone any more.
    """
    for row in rows:
        files = Upload.objects.filter(team=row.pool.team_id)
        naming = UploadedRow.objects.filter(Q(key=row.key) | Q(data__worker=row.key))
        commit.forget_uploads(files.exclude(state=Upload.State.TAKEN))
        commit.forget_uploads(files.filter(pk__in=list(naming.values_list("upload", flat=True))))


def _forget_jobs(rows: list[Worker], pseudonym: str) -> None:
    keys, team = {row.key for row in rows}, rows[0].pool.team_id
    jobs.rename_workers(team, lambda key: pseudonym if plain_key(key) in keys else key)


def _forget_lists(rows: list[Worker], pseudonym: str) -> None:
    """Replace the worker in the runs' lists of admitted and excluded workers."""
    keys = {row.key for row in rows}
    runs = Run.objects.filter(pk__in=listing_runs(rows[0].pool.team_id))
    for run in runs.only("only", "left_out"):
        if keys.intersection(run.only + run.left_out):
            only = [pseudonym if key in keys else key for key in run.only]
            exclusions = [pseudonym if key in keys else key for key in run.left_out]
            # Not ``save``, which would copy the names to the audit log.
            Run.objects.filter(pk=run.pk).update(only=only, left_out=exclusions)


def _forget_messages(rows: list[Worker], replace: Replace) -> None:
    """Replace the names in messages to programs and tools, including those that wait to be sent.

    Replies of the receivers are deleted, since they may repeat the name.
    """
    condition = Q()
    for text in {row.key for row in rows} | {row.name for row in rows if row.name}:
        for form in _json_forms(text):
            condition |= Q(body__contains=form) | Q(said__contains=form)
    team = rows[0].pool.team_id
    deliveries = Delivery.objects.filter(condition, webhook__team=team)
    calls = ConnectorCall.objects.filter(condition, connection__team=team)
    for message in (*deliveries, *calls):
        body = _replace_in_value(json.loads(message.body), replace)
        message.keep(body=json.dumps(body, ensure_ascii=False), said="")


def _json_forms(text: str) -> set[str]:
    """List the text's spellings in JSON, with ü plain or escaped."""
    return {text, *(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))}


def _forget_entries(
    entries: list[AuditEntry], rows: list[Worker], pseudonym: str, replace: Replace
) -> int:
    """Remove the names from the audit log; return the number of entries that had them."""
    changes = {entry.pk: _remove_names(entry, rows, pseudonym, replace) for entry in entries}
    changes = {pk: values for pk, values in changes.items() if values}
    for pk, values in changes.items():
        AuditEntry.objects.filter(pk=pk).forget(**values)
    return len(changes)


def _remove_names(
    entry: AuditEntry, rows: list[Worker], pseudonym: str, replace: Replace
) -> dict[str, Any]:
    """Remove the names from an entry's fields; empty if it has none of them."""
    erased = {"key": pseudonym, "name": "", "attributes": {}}
    own = entry.model == "worker"
    new: dict[str, Any] = {"why": replace(entry.why)[:300]} | ({"name": pseudonym} if own else {})
    for side in ("before", "after"):
        new[side] = {
            name: erased.get(name, value) if own else _replace_in_value(value, replace)
            for name, value in getattr(entry, side).items()
        }
    return {name: value for name, value in new.items() if getattr(entry, name) != value} and new


def _replace_in_value(value: Any, replace: Replace) -> Any:
    if isinstance(value, list):
        return [_replace_in_value(item, replace) for item in value]
    if isinstance(value, dict):
        return {replace(name): _replace_in_value(item, replace) for name, item in value.items()}
    return replace(value) if isinstance(value, str) else value


def _withdraw_erased(run: Run, pseudonym: str, who: str, why: str) -> bool:
    """Withdraw the worker; return False if they were out already, or the run is over."""
    with suppress(Refused), transaction.atomic():
        membership.withdraw_workers(run, [pseudonym], who, why)
        return True
    return False
