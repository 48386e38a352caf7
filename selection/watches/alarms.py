"""Consequences of an alarm: messages, pause, dismissal, test. All are in the audit log."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from django.db import transaction

from selection import audit, db_clock, webhooks
from selection.errors import Conflict, NotFound, Refused
from selection.limits import LONGEST_WHY
from selection.models import (
    Endpoint,
    Practice,
    QuestionSet,
    RunConnection,
    Watch,
    WatchedWorker,
    Webhook,
)
from selection.outbox.celery_messages import request_task
from selection.texts import counted
from selection.webhooks import Message

State = WatchedWorker.State
PART = "watch"
EXCHANGE = "selection.tasks.exchange"


def report_alarms(watch: Watch, rows: Sequence[WatchedWorker]) -> None:
    """Write the new alarms into the audit log and to webhooks, in the transaction of the step."""
    if not rows:
        return
    for row in rows:
        after = {"watch": str(watch), "gold answers": row.answers, "right": row.right}
        audit.record_entry("alarm", row.worker, who=PART, after=after)
    _send(watch, Webhook.Event.ALARM, rows)
    if watch.pause_on_alarm:
        _send(watch, Webhook.Event.PAUSED, rows)
        _request_exchanges(watch)


def report_results(watch: Watch, rows: Sequence[WatchedWorker]) -> None:
    """Write the results of tests, as ``report_alarms`` does: workers go on, or stay paused."""
    for row in rows:
        kind = "failed the test" if row.state == State.PAUSED else "passed the test"
        audit.record_entry(kind, row.worker, who=PART, after={"watch": str(watch)}, why=row.why)
    if rows:
        _send(watch, Webhook.Event.TESTED, rows)
        _send(watch, Webhook.Event.PAUSED, rows)
        _request_exchanges(watch)


def _request_exchanges(watch: Watch) -> None:
    """Let platforms follow: Prolific's group has no paused workers, Label Studio pauses them."""
    rows = RunConnection.objects.filter(run=watch.run_id, on=True)
    used = list(watch.connections.filter(on=True).values_list("connection", flat=True))
    used += rows.values_list("connection", flat=True) if watch.run_id else ()
    for connection in used:
        request_task(EXCHANGE, connection)


def _send(watch: Watch, kind: Webhook.Event, rows: Sequence[WatchedWorker]) -> None:
    def tell(kinds: object) -> Iterator[Message]:
        return (Message(kind, alarm_payload(row)) for row in rows)

    about = {"watch": watch.pk, "watch_name": watch.name}
    webhooks.write_team_messages(watch.team_id, about, tell)


def alarm_payload(row: WatchedWorker) -> dict[str, Any]:
    return {
        "worker": row.worker.key,
        "state": row.state,
        "level": row.level,
        "answers": row.answers,
        "right": row.right,
        "alarmed_at": row.alarmed,
        "reason": row.why,
    }


# -- actions of people


@transaction.atomic
def pause_worker(row: WatchedWorker, who: str, why: str = "") -> None:
    """Mark the worker as paused, and tell the webhooks. Raises Conflict if they are already.

    A test goes on after the pause: nothing but its result ends it.
    """
    row = lock_row(row)
    if row.state == State.PAUSED:
        raise Conflict(f"“{row.worker}” is paused already.")
    before = row.state if row.state in row.RETESTED else ""
    _change(row, "paused", who, why, state=State.PAUSED, before=before)
    _send(row.watch, Webhook.Event.PAUSED, [row])


@transaction.atomic
def resume_worker(row: WatchedWorker, who: str, why: str = "") -> None:
    """End a pause. An alarm stays until it is dismissed, and a test goes on."""
    row = lock_row(row)
    if row.state != State.PAUSED:
        raise Conflict(f"“{row.worker}” is not paused.")
    state = row.before or (State.ALARM if row.alarmed else State.FINE)
    # The next step looks at a test again: answers from the pause may decide it.
    _change(row, "resumed", who, why, state=state, before="", recount=True)
    _send(row.watch, Webhook.Event.PAUSED, [row])


@transaction.atomic
def dismiss_alarm(row: WatchedWorker, who: str, why: str) -> None:
    """Dismiss an alarm with a reason: the worker begins anew, without the evidence so far."""
    row = lock_row(row)
    if row.alarmed is None:
        raise Conflict(f"“{row.worker}” has no alarm.")
    if not why.strip():
        raise Refused("Give a reason: it is kept in the audit log.")
    row.tried = 0
    begin_anew_row(row)
    _change(row, "alarm dismissed", who, why, state=State.FINE, dismissed=db_clock.database_now())


@transaction.atomic
def requalify_worker(row: WatchedWorker, who: str, why: str = "") -> None:
    """Begin a test of a worker with an alarm or a pause, against their level.

    Only gold questions asked from now on count, or after the practice. Raises Conflict for other
    workers, and after the last try.
    """
    row = lock_row(row)
    if row.state not in (State.ALARM, State.PAUSED):
        raise Conflict(f"“{row.worker}” has no alarm and is not paused: there is nothing to test.")
    if row.tried >= row.watch.tries:
        tests = counted(row.watch.tries, "test")
        raise Conflict(f"“{row.worker}” has had {tests}: edit the watch to allow another one.")
    # A model has no page to practise on.
    has_practice = (
        row.watch.with_practice and not Endpoint.objects.filter(worker=row.worker_id).exists()
    )
    if has_practice:
        refuse_no_practice(row.watch.question_sets.all())
    row.tried += 1
    begin_anew_row(row)
    row.practised.update(done=False, tries=0)
    state = State.PRACTICE if has_practice else State.TESTING
    _change(row, "tested again", who, why, state=state)
    _send(row.watch, Webhook.Event.TESTED, [row])


def refuse_no_practice(question_sets: Collection[QuestionSet]) -> None:
    if not Practice.objects.filter(question_set__in=question_sets).exists():
        raise Conflict(
            "The question sets of this watch have no practice questions: add some, or turn off "
            "“Practice before a test”."
        )


def end_practice(row: WatchedWorker) -> None:
    """Begin the test of a locked worker who has practised: gold asked from now on counts."""
    begin_anew_row(row)
    _change(row, "practised", PART, "", state=State.TESTING)
    _send(row.watch, Webhook.Event.TESTED, [row])


def fail_practice(row: WatchedWorker) -> None:
    """End the test of a locked worker who has no try left at a required practice question."""
    row.why, row.state = "did not pass the practice", State.PAUSED
    row.save(update_fields=["why", "state"])
    report_results(row.watch, [row])


def begin_anew_row(row: WatchedWorker) -> None:
    """Empty the evidence: only questions asked from now on are counted."""
    row.since = max(filter(None, (row.last_asked, db_clock.database_now())))
    row.threshold = row.alarmed = row.alarmed_after = None
    row.before = ""
    row.empty_evidence()
    row.save()


# By the name of a button or of the API.
ACTIONS: dict[str, Callable[[WatchedWorker, str, str], None]] = {
    "pause": pause_worker,
    "resume": resume_worker,
    "dismiss": dismiss_alarm,
    "requalify": requalify_worker,
}


def find_watched(watch: Watch, key: str) -> WatchedWorker:
    """Find the worker with this id, or raise NotFound."""
    rows = watch.workers.select_related("watch", "worker")
    row = rows.filter(worker__key=key).first()
    if row is None:
        raise NotFound(f"“{watch}” does not watch a worker “{key}”.")
    return row


def lock_row(row: WatchedWorker) -> WatchedWorker:
    """Lock the watch, as a step does, and return the worker as of now."""
    Watch.objects.lock(row.watch_id)
    locked = WatchedWorker.objects.select_related("watch", "worker").get(pk=row.pk)
    if locked.state == State.LEFT:
        raise Conflict(f"“{locked.worker}” is not watched any more.")
    return locked


def _change(row: WatchedWorker, kind: str, who: str, why: str, **columns: Any) -> None:
    row.why = why[:LONGEST_WHY]
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=["why", *columns])
    after = {"watch": str(row.watch), "state": row.state}
    audit.record_entry(kind, row.worker, who=who, after=after, why=row.why)
    _request_exchanges(row.watch)
