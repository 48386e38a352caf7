"""The web server: ``python -m crowdselect.start.web_server 127.0.0.1:8000 [--processes 2]``.

Waitress reads a request as it arrives and passes it to a thread only when it is complete, so that
half a request blocks no thread. Several processes share one socket, because in each of them one
thread computes at a time.
"""

import argparse
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, MutableSequence
from multiprocessing.sharedctypes import RawArray

import waitress
from django.conf import settings

from crowdselect.web.request_queue import BeatTask, Channel
from crowdselect.wsgi import application, heartbeat

THREADS = 4
SILENT_SECONDS = 60  # a connection on which nothing comes for so long is closed
CONNECTIONS = 400  # of each process; a body above half a megabyte costs each a second file


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m crowdselect.start.web_server")
    parser.add_argument("address", help="host:port")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    listener = open_listener(options.address)
    signal.signal(signal.SIGTERM, end_serving)
    if options.processes == 1:  # whoever started this process starts it again
        serve_requests(listener, os.getppid(), RawArray("d", [time.monotonic()]), 0)
        return 0
    return keep_serving(listener, options.processes)


def end_serving(number: int, frame: object) -> None:
    raise SystemExit


def open_listener(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family, backlog=1024)


def keep_serving(listener: socket.socket, processes: int) -> int:
    """Serve with so many processes until a signal ends this one; replace each that dies."""
    serving: dict[int, int] = {}  # the place of each in the array
    pickups = RawArray("d", processes)
    gc.collect()
    gc.freeze()  # a collection would write to, and so copy, what processes share
    try:
        while True:
            for place in set(range(processes)) - set(serving.values()):
                pickups[place] = time.monotonic()
                serving[_fork_process(listener, pickups, place)] = place
            pid, status = os.wait()
            serving.pop(pid, None)
            print(f"A web process ended with status {status}.", file=sys.stderr)  # noqa: T201
            time.sleep(1)  # slows down restarts of processes that die at once
    except (SystemExit, KeyboardInterrupt):
        for pid in serving:
            os.kill(pid, signal.SIGTERM)
        for pid in serving:
            os.waitpid(pid, 0)
    return 0


def _fork_process(listener: socket.socket, taken_up: MutableSequence[float], place: int) -> int:
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    try:
        serve_requests(listener, parent, taken_up, place)
    finally:
        os._exit(0)


def serve_requests(
    listener: socket.socket, parent: int, taken_up: MutableSequence[float], place: int
) -> None:
    """Serve until SIGTERM comes; requests in progress are completed.

    taken_up, place  as in ``request_queue.BeatTask``
    """
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it warns of every queued request
    server = waitress.create_server(
        application,
        sockets=[listener],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        channel_timeout=SILENT_SECONDS,
        asyncore_use_poll=True,
        max_request_body_size=settings.MOST_UPLOADED,
        clear_untrusted_proxy_headers=False,  # web.forwarded_headers does, and knows networks
        ident=None,
    )
    server.channel_class = Channel

    def enqueue(done: Callable[[], None]) -> None:
        server.add_task(BeatTask(server, taken_up, place, heartbeat.beat, done))

    heartbeat.start_heartbeat(parent, enqueue)
    server.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
