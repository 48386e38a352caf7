"""Calls of models a second, end to end: dispatcher, ledger, answers and steps in one process.

The stub is a process of its own and replies after 20 ms. Processor milliseconds are a call's: of
this process, and of the database's server.
"""

import asyncio
import json
import multiprocessing
import time
from multiprocessing.connection import Connection

from django.conf import settings
from django.db import connection

from selection import engine, wakeups
from selection.model_workers import claims
from selection.model_workers.call_pool import CallPool
from selection.model_workers.dispatcher import Dispatcher
from selection.models import Endpoint, ModelServer, Run, Worker
from tests.model_stub import completion
from tests.worlds import make_pool, make_questions, make_run

from .spent import busy, database, processors
from .tables import show

IN_FLIGHT = (200, 5_000)
MODELS, CALLS = 50, 20_000
SECONDS = 0.02


def main() -> None:
    settings.MODELS_INSIDE = True
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    connection.close()
    stub = context.Process(target=serve, args=(there,), daemon=True)
    stub.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    try:
        rows = [[in_flight, *measure(url, in_flight)] for in_flight in IN_FLIGHT]
    finally:
        stub.terminate()
    show(
        f"calls of models on {connection.vendor}, {SECONDS * 1000:g} ms each; {busy()}",
        ["in flight", "calls", "calls/s", "own ms", "database ms", "steps"],
        rows,
    )


def measure(url: str, in_flight: int) -> list[object]:
    run = make_calling_run(url, in_flight)
    server, own, start = processors(database()), time.process_time(), time.perf_counter()
    play_run(run)
    seconds, own = time.perf_counter() - start, time.process_time() - own
    calls, steps = run.model_calls.count(), run.steps
    cost = processors(database()) - server
    return [calls, calls / seconds, 1000 * own / calls, 1000 * cost / calls, steps]


def play_run(run: Run) -> None:
    """Take steps and make calls until the run ends."""
    with wakeups.silenced(), CallPool() as pool:
        dispatcher = Dispatcher(pool, frozenset([run.pk]))
        while run.status == Run.Status.RUNNING:
            if claims.is_running_low(run.pk):
                engine.advance(run.pk)
            dispatcher.take_turn(0.2)
            run.refresh_from_db()
        dispatcher.finish()


def make_calling_run(url: str, in_flight: int) -> Run:
    """Return a run that ends by its budget, with enough open assignments for so many calls."""
    pool = make_pool(MODELS)
    server = ModelServer.objects.create(name=f"stub {in_flight}", url=url, concurrency=in_flight)
    for number, worker in enumerate(Worker.objects.filter(pool=pool)):
        model = f"{in_flight}-{number}"
        Endpoint.objects.create(worker=worker, server=server, model=model, price_call="0.001")
    rule = {"k": 5, "algorithm": "certified", "epsilon": 0.001, "budget": CALLS}
    slots = {"slots": CALLS // 2, "slots_per_worker": CALLS // MODELS}
    return make_run(pool=pool, question_set=make_questions(1000), **rule, **slots)


# -- the model server: as little work as possible, because it shares the processors


class Stub(asyncio.Protocol):
    """Replies "yes" to each request of a connection, one after the other."""

    BODY = json.dumps(completion("m", "yes")).encode()
    REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, body = self.received.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().split(b"content-length:")[1].split()[0]):
            self.received = b""
            asyncio.get_running_loop().call_later(SECONDS, self._reply)

    def _reply(self) -> None:
        self.transport.write(self.REPLY % (len(self.BODY), self.BODY))


def serve(port: Connection) -> None:
    """Serve on a free port, and send its number through the pipe."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(
            Stub, "127.0.0.1", 0, backlog=10_000
        )
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())
