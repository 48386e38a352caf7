"""Refusals: a sentence for the person who asked, and the HTTP status."""

from django.db import InternalError, OperationalError

# psycopg's ReadOnlySqlTransaction: a standby, or a primary that is about to become one.
READ_ONLY = "25006"


class Refused(Exception):
    """A refused request. The message says what is wrong, where, and what would be right."""

    status = 422


class NotFound(Refused):
    status = 404


class Conflict(Refused):
    """The request does not fit the present state."""

    status = 409


class Forbidden(Refused):
    """The user is signed in, but lacks the permission."""

    status = 403


class WrongKind(Refused):
    """The body is not JSON."""

    status = 415


class Answered(Conflict):
    """The assignment already has a different response."""


class TooMany(Refused):
    """A limit was exceeded. seconds: to wait; 0: until the rate is counted anew."""

    status = 429
    seconds = 0


class Withdrawn(Conflict):
    """The assignment was withdrawn before its answer came."""


class Met(Conflict):
    """The worker had met the question before."""


class Retired(Conflict):
    """The question counts no more."""


class TooLate(Conflict):
    """The time to answer is over."""


class OutsideChoices(Refused):
    """The response cannot be an answer. wanted: the expected form (choices, order, number)."""

    def __init__(self, why: str, wanted: str = "choices") -> None:
        super().__init__(why)
        self.wanted = wanted


class Busy(Exception):
    """Another process holds the run; try again in a moment."""


def is_read_only(error: BaseException) -> bool:
    """Tell if PostgreSQL refused a write because it is read-only, as in a failover."""
    return (
        isinstance(error, InternalError) and getattr(error.__cause__, "sqlstate", "") == READ_ONLY
    )


def cannot_write(error: BaseException) -> bool:
    """Tell if the database cannot be written to now: it is locked, full, away or read-only.

    The same write may succeed in a minute, so the sender is asked to repeat it.
    """
    return isinstance(error, OperationalError) or is_read_only(error)
