"""Delivery of the outbox, with retries after temporary failures.

The attempt is recorded before the letter leaves, and its outcome afterwards. If the process ends
in between, the message may have arrived: it is not sent again by itself, only by a person
(``invitations.retry_failed``).
"""

import logging
from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from selection import db_clock
from selection.history import events
from selection.models import Run
from selection.outbox import celery_messages, queues
from selection.texts import count_noun

from . import letters
from .models import Mail, has_server, recipient_digest
from .server import About, Failure, MailServer, describe_failure, mail_server

logger = logging.getLogger(__name__)

State = Mail.State
TASK = "crowdselect.mail.tasks.send_mail"
CHUNK = 1000
FAILURES = 3  # of the server in a row, after which a task gives up for now
# A message of each kind, and what follows the noun.
NOUNS = {
    Mail.Kind.INVITATION: ("invitation", ""),
    Mail.Kind.REMINDER: ("reminder", ""),
    Mail.Kind.ENDED: ("message", " about the end, to members"),
    Mail.Kind.ATTENTION: ("message", " about needs, to members"),
    Mail.Kind.ALARM: ("message", " about alarms, to members"),
    Mail.Kind.PASSWORD: ("message", " with a link to set a password"),
}


def send_due() -> None:
    """Send due messages, oldest first, over one connection."""
    celery_messages.mark_received(TASK)
    if not has_server():
        return
    ready = Mail.objects.ready().order_by("due", "id").select_related(*letters.COLUMNS)
    with mail_server() as server:
        queues.work_through(
            ready.first, lambda mail: _attempt_mail(mail, server), request_delivery, FAILURES
        )
    note_sent()


def write_mails(mails: Sequence[Mail]) -> None:
    """Store these messages, without those of a name that is there, and request their delivery."""
    for mail in mails:
        about = mail.run or mail.watch
        assert about is not None  # each message is about one of them
        mail.team_id = about.team_id
    Mail.objects.bulk_create(mails, CHUNK, ignore_conflicts=True)
    if mails:
        request_delivery()


def request_delivery() -> None:
    """Request delivery of all due messages, a moment after the current transaction commits."""
    celery_messages.request_task(TASK)


def _attempt_mail(mail: Mail, server: MailServer) -> bool:
    """Send the message and record the outcome; return False for a failure of the server."""
    letter = _letter_or_record(mail)
    if letter is None:
        return True
    address = letter.to[0]
    if not _begin_attempt(mail, address):
        return True  # another process has it
    failure = _try_sending(letter, server, address)
    if failure is None:
        _record_outcome(mail, state=State.SENT, sent=db_clock.database_now(), said="")
        return True
    _record_failure(mail, failure)
    return failure.about is not About.SERVER


def _letter_or_record(mail: Mail) -> EmailMessage | None:
    """Write the letter; None after recording the reason against it."""
    try:
        return letters.write_letter(mail)
    except letters.Unneeded as reason:
        _waiting(mail).update(state=State.SKIPPED, due=None, said=str(reason))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # The messages behind it must not wait for this one.
        logger.error("Message %s cannot be written (%s).", mail.pk, type(error).__name__)
        words = "its text cannot be written"
        _waiting(mail).update(state=State.FAILED, due=None, said=words)
    return None


def _try_sending(letter: EmailMessage, server: MailServer, address: str) -> Failure | None:
    """Send the letter; return the failure, without traces of the address."""
    try:
        server.send(letter)
    except Exception as error:
        failure = describe_failure(error, address)
        if failure.about is About.SERVER:
            server.close()
            logger.warning("The mail server fails (%s).", type(error).__name__)
        return failure
    return None


def _waiting(mail: Mail) -> QuerySet[Mail]:
    """Select the message's row, if it still waits as it was read."""
    return Mail.objects.filter(pk=mail.pk, state=State.WAITING, due=mail.due)


def _begin_attempt(mail: Mail, address: str) -> bool:
    """Take the message out of the queue; return False if it is not there any more."""
    mail.tries, mail.tried = mail.tries + 1, db_clock.database_now()
    state = {"state": State.SENDING, "due": None, "tries": mail.tries, "tried": mail.tried}
    digest = recipient_digest(mail.team_id, address)
    return bool(_waiting(mail).update(digest=digest, **state))


def _record_failure(mail: Mail, failure: Failure) -> None:
    now = db_clock.database_now()
    due = queues.retry_time(mail.tries, now) if failure.temporary else None
    is_final = failure.about is About.ADDRESS and not failure.temporary
    state = State.WAITING if due else State.REFUSED if is_final else State.FAILED
    _record_outcome(mail, state=state, due=due, said=failure.words)


def _record_outcome(mail: Mail, **columns: object) -> None:
    """Write the outcome of this attempt, unless a person has had the message sent again."""
    attempt = Mail.objects.filter(pk=mail.pk, state=State.SENDING, tried=mail.tried)
    attempt.update(**columns)


def note_sent() -> None:
    """Write the messages sent since the last time into the histories of their runs."""
    sent = Mail.objects.filter(run=OuterRef("pk"), state=State.SENT, noted=False)
    for run in Run.objects.filter(Exists(sent)):
        _note_sent_of_run(run)


@transaction.atomic
def _note_sent_of_run(run: Run) -> None:
    sent = Mail.objects.filter(run=run, state=State.SENT, noted=False)
    counts = {kind: sent.filter(kind=kind).update(noted=True) for kind in Mail.Kind}
    parts = [
        count_noun(count, noun) + end
        for count, (noun, end) in ((counts[kind], NOUNS[kind]) for kind in Mail.Kind)
        if count
    ]
    if parts:
        events.write_event(run, "mail", f"Sent by e-mail: {', '.join(parts)}.")


def sweep_mail() -> None:
    """Request due messages whose request was lost, and complete the histories."""
    if has_server() and Mail.objects.ready().exists():
        request_delivery()
    note_sent()
