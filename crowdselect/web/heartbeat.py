"""Heartbeat of the web processes. A gap counts as an outage and extends open deadlines."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import DatabaseError, close_old_connections

from selection.answers import outages

logger = logging.getLogger(__name__)


_beating_in = 0  # the process that has the thread: forks do not copy threads
_silent = False  # True if the database refused the last beat, which is logged once


def start_heartbeat(
    parent: int = 0,
    enqueue: Callable[[Callable[[], None]], None] | None = None,
    **signal_sent: object,
) -> None:
    """Start the heartbeat of this process, once.

    parent   the supervising process; when it is gone, this one ends
    enqueue  queues ``beat`` behind the requests that wait for a thread, then calls its argument;
             without it, as under other web servers, a thread of its own beats
    """
    global _beating_in
    if _beating_in != os.getpid():
        _beating_in = os.getpid()
        arguments = (parent, enqueue or _beat_here)
        threading.Thread(
            target=_keep_beating, args=arguments, name="heartbeat", daemon=True
        ).start()


def _keep_beating(parent: int, enqueue: Callable[[Callable[[], None]], None]) -> None:
    """Enqueue one beat after the other: each only when the previous one has run."""
    finished = threading.Event()
    finished.set()
    while True:
        if parent and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
        if finished.is_set():
            finished.clear()
            enqueue(finished.set)
        time.sleep(1)


def _beat_here(finish: Callable[[], None]) -> None:
    beat()
    finish()


def beat(waited: float = 0.0) -> None:
    """Record that requests which arrived until so many seconds ago were taken up."""
    global _silent
    try:
        close_old_connections()
        outages.record_heartbeat(waited=timedelta(seconds=waited))
        _silent = False
    except DatabaseError as error:
        if not _silent:
            logger.warning("The database does not take what the web says: %s", error)
        _silent = True
