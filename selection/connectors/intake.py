"""News from the other side: answers, stays that ended, and tasks that were lost there."""

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q

from selection import db_clock
from selection.answers import presence, recording, revision, uncounted
from selection.errors import Answered, Conflict, NotFound, Refused
from selection.models import Connection, OutsideTask, Run, RunConnection
from selection.runs.roster import platform_submissions

from . import health, registry, wanted_tasks
from .connector import Incoming, LostTasks, News, OutsideAnswer, OutsideSubmission

logger = logging.getLogger(__name__)
State = OutsideTask.State
Reason = uncounted.Reason


def take_news(news: Iterable[News]) -> int:
    """Store the news; return the number that changed anything. Repeats change nothing."""
    return sum(_take_item(item) for item in news)


def _take_item(item: News) -> bool:
    if isinstance(item, OutsideAnswer):
        return take_answer(item)
    if isinstance(item, OutsideSubmission):
        return _take_submission(item)
    return _take_lost(item)


@transaction.atomic
def take_answer(item: OutsideAnswer) -> bool:
    """Record an answer of a task, or an edit of it before it is counted.

    A task that nobody knows is ignored. Refusals become the problem of the run's connection, and
    what does not count is noted with its reason.
    """
    tasks = item.link.tasks.select_related("candidate__worker", "assignment__question")
    task = tasks.filter(number=item.number).first()
    if task is None or _is_old(task, item):
        return False
    worker = task.candidate.worker
    if item.annotators and not _is_worker(task, item):
        health.note_problem(
            item.link,
            f"“{item.annotators[0]}” answered a task of “{worker}”: it was not counted. Each "
            "person answers their own tasks only.",
        )
        _note_uncounted(item, Reason.PERSON)
        return False
    presence.note_presence(item.link.run, [task.candidate_id], task.candidate.seen)
    try:
        reason = _record(task, item)
    except Refused as refusal:
        question = task.assignment.question if task.assignment else "?"
        health.note_problem(item.link, f"“{worker}”, question “{question}”: {refusal}")
        _note_uncounted(item, Reason.UNREADABLE)
        return False
    if reason is not None and item.response is not None:
        _note_uncounted(item, reason)
    _close_task(task, item)
    return reason is None


def _note_uncounted(item: OutsideAnswer, reason: Reason) -> None:
    uncounted.note_answers(reason, item.link.connection.kind, [item.number])


def _is_old(task: OutsideTask, item: OutsideAnswer) -> bool:
    answered = task.state == State.ANSWERED
    return answered and bool(task.revision) and item.revision <= task.revision


def _record(task: OutsideTask, item: OutsideAnswer) -> Reason | None:
    """Record the answer or its edit; return the reason if it does not count."""
    number = task.number
    try:
        if task.state == State.ANSWERED:
            return _revise(task, item)
        if item.response is None:
            revision.refuse_assignment(number)
            return None
        with transaction.atomic():
            recording.record_answer(number, item.response, door=item.link.connection.kind)
        uncounted.forget(number)  # an earlier one was refused
        return None
    except Answered:
        return _revise(task, item)
    except NotFound:
        return Reason.WITHDRAWN
    except Conflict as refusal:
        return uncounted.reason_of(refusal)


def _revise(task: OutsideTask, item: OutsideAnswer) -> Reason | None:
    """Replace the answer by this edit, unless a later one was stored meanwhile."""
    Run.objects.locked(item.link.run_id)  # edits of a run are stored one after another
    task.refresh_from_db(fields=["state", "revision"])
    if _is_old(task, item) or revision.revise_answer(task.number, item.response):
        return None
    return Reason.CHANGED


def _close_task(task: OutsideTask, item: OutsideAnswer) -> None:
    now = db_clock.database_now()
    later = Q(state=State.ANSWERED, revision__gt=item.revision[:40])
    OutsideTask.objects.filter(~later, pk=task.pk).update(
        state=State.ANSWERED, revision=item.revision[:40], ended=task.ended or now
    )


def _is_worker(task: OutsideTask, item: OutsideAnswer) -> bool:
    """Tell if one of the annotator's names is the worker's.

    Their key may be another person's number there, so it counts only if nothing else is known.
    """
    worker = task.candidate.worker
    attribute = str(worker.attributes.get(item.link.connection.kind, "")).strip()
    stored = item.link.workers.filter(worker=worker).values_list("outside_id", flat=True)
    names = [name for name in [attribute, *stored] if name] or [worker.key]
    folded = {name.casefold() for name in names}
    return any(name.casefold() in folded for name in item.annotators)


def _take_submission(item: OutsideSubmission) -> bool:
    run = item.link.run
    item.link.workers.filter(worker__key=item.worker).update(outside_id=item.outside_id)
    if not platform_submissions.has_left(item.status):
        return False
    try:
        result = platform_submissions.report_submissions(run, {item.worker: item.status})
    except Refused:
        return False  # the run is over
    return bool(result.freed)


def _take_lost(item: LostTasks) -> bool:
    count = wanted_tasks.return_tasks(item.link, item.numbers)
    if item.problem and count:
        health.note_problem(item.link, item.problem)
    return count > 0


def receive_message(connection: Connection, message: Incoming) -> int:
    """Store the news in a message of the other side; return the number that changed anything.

    Raises NotAuthentic for anybody else's message. A paused connection takes answers too: they
    are work that was done.
    """
    connector = registry.connector_of(connection)
    connector.authenticate(connection, message)
    return take_news(connector.receive(connection, message))


def take_link_news(link: RunConnection, news: Iterable[News]) -> int:
    changed = take_news(news)
    if changed:
        logger.info("%s news from %s.", changed, link)
    return changed
