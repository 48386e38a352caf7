"""Leases of work that consists of several requests: long work renews its lease.

So a list of many slow pages keeps its lease, and a process that was frozen meanwhile notices that
another one has taken over.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

# Less than a lease minus the longest request. Short work does not write at all: on SQLite each
# write waits for those of other processes.
SECONDS = 20.0


class LeaseLost(Exception):
    """Another process has taken over this work."""


@dataclass
class _Lease:
    """renew: renews it and returns False if it is lost. renewed: when it last was."""

    renew: Callable[[], bool]
    renewed: float


_lease: ContextVar[_Lease | None] = ContextVar("lease", default=None)


@contextmanager
def renewing(renew: Callable[[], bool]) -> Iterator[None]:
    """Call this function before later requests in the block; it returns False for a lost lease."""
    token = _lease.set(_Lease(renew, monotonic()))
    try:
        yield
    finally:
        _lease.reset(token)


def renew_lease() -> None:
    """Renew the lease of the present work, if it has an old one. Raises LeaseLost."""
    lease = _lease.get()
    if lease is None or monotonic() - lease.renewed < SECONDS:
        return
    if not lease.renew():
        raise LeaseLost
    lease.renewed = monotonic()
