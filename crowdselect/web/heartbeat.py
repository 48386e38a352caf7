"""A web process says every few seconds that it serves requests; time without any is given back."""

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


_beating_in = 0  # the process whose thread it is: a fork does not take threads along
_silent = False  # whether the database refused the last beat: that is logged once


def start_heartbeat(
    parent: int = 0,
    enqueue: Callable[[Callable[[], None]], None] | None = None,
    **signal_sent: object,
) -> None:
    """Begin in this process, once.

    parent   the process that supervises this one; when it is gone, so is this
    enqueue  has ``beat`` done behind the requests that wait for a thread, and then calls what it is
             given; without it, as under other web servers, a thread of its own beats
    """
    global _beating_in
    if _beating_in != os.getpid():
        _beating_in = os.getpid()
        arguments = (parent, enqueue or _beat_here)
        threading.Thread(target=_keep_beating, args=arguments, name="pulse", daemon=True).start()


def _keep_beating(parent: int, enqueue: Callable[[Callable[[], None]], None]) -> None:
    """Enqueue one beat after the other: the next one only when the last one had its turn."""
    done = threading.Event()
    done.set()
    while True:
        if parent and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
        if done.is_set():
            done.clear()
            enqueue(done.set)
        time.sleep(1)


def _beat_here(done: Callable[[], None]) -> None:
    beat()
    done()


def beat(waited: float = 0.0) -> None:
    """Write down that what arrived until so many seconds ago was taken up."""
    global _silent
    try:
        close_old_connections()
        outages.record_heartbeat(waited=timedelta(seconds=waited))
        _silent = False
    except DatabaseError as error:
        if not _silent:
            logger.warning("The database does not take what the web says: %s", error)
        _silent = True
