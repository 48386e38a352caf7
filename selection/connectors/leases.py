"""Leases of work that consists of several requests: each request renews the lease.

So a list of many slow pages keeps its lease, and a process that was frozen meanwhile notices that
another one has taken over.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_renew: ContextVar[Callable[[], bool] | None] = ContextVar("renew", default=None)


class LeaseLost(Exception):
    """Another process has taken over this work."""


@contextmanager
def renewing(renew: Callable[[], bool]) -> Iterator[None]:
    """Call this function before each request in the block; it returns False for a lost lease."""
    token = _renew.set(renew)
    try:
        yield
    finally:
        _renew.reset(token)


def renew_lease() -> None:
    """Renew the lease of the present work, if it has one. Raises LeaseLost."""
    renew = _renew.get()
    if renew is not None and not renew():
        raise LeaseLost
