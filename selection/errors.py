"""What is refused, in one sentence for the person who asked, and the HTTP status that says so."""

from django.db import InternalError, OperationalError

# psycopg's ReadOnlySqlTransaction: a standby, or a primary that is about to become one.
READ_ONLY = "25006"


class Refused(Exception):
    """The message says what is wrong, where, and what would be right."""

    status = 422


class NotFound(Refused):
    status = 404


class Conflict(Refused):
    """What was asked does not fit the present state."""

    status = 409


class Forbidden(Refused):
    """Known, and not allowed to do this."""

    status = 403


class WrongKind(Refused):
    """The body is of another kind than JSON."""

    status = 415


class Answered(Conflict):
    """There is an answer already, and it is another one."""


class TooMany(Refused):
    """More often than is taken in a minute."""

    status = 429


class TooLate(Conflict):
    """The time to answer was up."""


class OutsideChoices(Refused):
    """The response cannot be an answer. wanted: what it is none of (choices, order, number)."""

    def __init__(self, why: str, wanted: str = "choices") -> None:
        super().__init__(why)
        self.wanted = wanted


class Busy(Exception):
    """Somebody else is at it; come again in a moment."""


def is_read_only(error: BaseException) -> bool:
    """Return whether PostgreSQL refused a write because it takes none, as during a failover."""
    return (
        isinstance(error, InternalError) and getattr(error.__cause__, "sqlstate", "") == READ_ONLY
    )


def cannot_write(error: BaseException) -> bool:
    """Return whether the database cannot be written to now: it is locked, full, away or read-only.

    The same may succeed in a minute, so whoever sent something is asked to send it again.
    """
    return isinstance(error, OperationalError) or is_read_only(error)
