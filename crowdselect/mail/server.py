"""The mail server: one connection for many letters, and its failures in words."""

import re
import smtplib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from selection.errors import Refused

from .models import REPLY_LENGTH, has_server

NO_SERVER = (
    "No mail server is configured. The administrator of this server sets EMAIL_HOST, then sends a "
    "test message on the page “System”."
)
_ADDRESS = re.compile(r"(?<![^\s<>\"'(),;:])[^\s<>\"'(),;:]+@[^\s<>\"'(),;:]+")
UNAVAILABLE = 421  # the server closes the connection
SECURITY = "5.7."  # enhanced status codes of a policy, which say nothing about the mailbox


class About(Enum):
    """The cause of a failure: it decides on what follows."""

    ADDRESS = "address"
    LETTER = "letter"
    SERVER = "server"


@dataclass(frozen=True)
class Failure:
    """A failed attempt.

    temporary  True if another attempt may succeed
    words      the reason, without any address
    """

    about: About
    temporary: bool
    words: str


class MailServer:
    """A connection to the mail server, opened with the first letter and after each failure."""

    def __init__(self) -> None:
        self._connection: Any = None

    def send(self, letter: EmailMessage) -> None:
        if self._connection is None:
            connection = get_connection()
            connection.open()
            self._connection = connection
        self._connection.send_messages([letter])

    def close(self) -> None:
        connection, self._connection = self._connection, None
        with suppress(Exception):
            connection and connection.close()


@contextmanager
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    try:
        yield server
    finally:
        server.close()


def require_server() -> None:
    """Raise Refused without a mail server: messages would count as sent and arrive nowhere."""
    if not has_server():
        raise Refused(NO_SERVER)


def describe_settings() -> str:
    if not has_server():
        return NO_SERVER
    return (
        f"Messages go to {settings.EMAIL_HOST or 'this machine'}:{settings.EMAIL_PORT}, from "
        f"{settings.DEFAULT_FROM_EMAIL}."
    )


def send_test(address: str) -> str:
    """Send a test message now; return the result in a sentence. Raises Refused with the error."""
    letter = EmailMessage("Test message of CrowdSelect", "The mail server works.", to=[address])
    try:
        with mail_server() as server:
            server.send(letter)
    except Exception as error:
        raise Refused(f"The test message was not sent: {describe_failure(error).words}.") from error
    if not has_server():
        return f"The message was written to this server's output, not sent. {NO_SERVER}"
    return f"The mail server took the test message for {address}: check the mailbox."


def describe_failure(error: Exception, address: str = "") -> Failure:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, reply = next(iter(error.recipients.values()))
        return _refusal(About.ADDRESS, code, _plain(reply, address))
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return _server_failure("the mail server refuses EMAIL_HOST_USER or EMAIL_HOST_PASSWORD")
    if isinstance(error, smtplib.SMTPSenderRefused):
        answer = _plain(error.smtp_error, settings.DEFAULT_FROM_EMAIL)
        return _server_failure(f"the mail server refuses the sender DEFAULT_FROM_EMAIL: {answer}")
    if isinstance(error, smtplib.SMTPDataError):
        return _refusal(About.LETTER, error.smtp_code, _plain(error.smtp_error, address))
    if isinstance(error, smtplib.SMTPResponseException):
        answer = _plain(error.smtp_error, address)
        return _server_failure(f"the mail server answers {error.smtp_code} {answer}")
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Failure(About.LETTER, False, "the mail server cannot use this address")
    if isinstance(error, smtplib.SMTPException | OSError):
        reason = _plain(str(error) or type(error).__name__, address)
        place = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        return _server_failure(f"no connection to the mail server {place}: {reason}")
    if isinstance(error, ValueError):  # EMAIL_USE_TLS together with EMAIL_USE_SSL, a bad header
        return Failure(About.LETTER, False, _plain(str(error), address))
    return Failure(About.LETTER, False, type(error).__name__)


def _server_failure(words: str) -> Failure:
    return Failure(About.SERVER, True, words[:REPLY_LENGTH])


def _refusal(about: About, code: int, reply: str) -> Failure:
    words = f"{code} {reply}"[:REPLY_LENGTH]
    if code == UNAVAILABLE:
        return _server_failure(words)
    about = About.LETTER if reply.startswith(SECURITY) else about
    return Failure(about, code < 500, words)


def _plain(reply: Any, address: str) -> str:
    """Put the server's reply in one line, without addresses."""
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else str(reply)
    text = _ADDRESS.sub("…", " ".join(text.split()).replace("\0", ""))
    local = address.partition("@")[0]
    return re.sub(rf"(?<!\w){re.escape(local)}(?!\w)", "…", text, flags=re.I) if local else text
