"""A web process says every few seconds that it is there, so that time without any is given back."""

import logging
import os
import signal
import threading
import time

from django.db import DatabaseError, close_old_connections

from selection.setup import outages

logger = logging.getLogger(__name__)

_beating_in = 0  # the process whose thread it is: a fork does not take threads along


def start(parent: int = 0, **signal_sent: object) -> None:
    """Begin in this process, once.

    parent  the process that supervises this one; when it is gone, so is this
    """
    global _beating_in
    if _beating_in != os.getpid():
        _beating_in = os.getpid()
        threading.Thread(target=_beat, args=(parent,), name="pulse", daemon=True).start()


def _beat(parent: int) -> None:
    silent = False
    while True:
        if parent and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
        try:
            close_old_connections()
            outages.web_is_up()
            silent = False
        except DatabaseError as error:
            if not silent:
                logger.warning("The database does not take what the web says: %s", error)
            silent = True
        time.sleep(1)
