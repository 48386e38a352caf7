"""Calls in flight: an event loop in a thread of its own, and a queue of outcomes.

The caller's thread keeps the database: nothing here reads or writes it.
"""

import asyncio
import gc
import queue
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from selection.errors import Refused
from selection.models import ModelServer

from .completions import Fault, Outcome
from .server_calls import GuardedLoop, ModelClient, ask_model, open_server

AT_ONCE = 8  # calls that are begun before the loop looks at replies
# New objects after which garbage is collected. Calls make many, and few need the collector: at
# Python's 700 its passes take a seventh of a call's time.
COLLECT_AFTER = 50_000


@dataclass(frozen=True)
class Request:
    """A call to send.

    call    id of its row in the ledger
    key     the server's API key
    body    arguments of the chat completion
    """

    call: int
    server: ModelServer
    key: str
    body: dict[str, Any]
    timeout: float


class CallPool:
    """Sends requests; each outcome is collected once, with the id of its call.

    While it is open, the process collects garbage rarely.
    """

    def __init__(self) -> None:
        self._loop = GuardedLoop()
        self._outcomes: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
        self._clients: dict[tuple[int | str, ...], ModelClient] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thresholds = gc.get_threshold()

    def __enter__(self) -> Self:
        gc.set_threshold(COLLECT_AFTER, *self._thresholds[1:])
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()
        gc.set_threshold(*self._thresholds)

    def send(self, requests: list[Request]) -> None:
        asyncio.run_coroutine_threadsafe(self._begin(requests), self._loop)

    def collect(self, wait: float) -> list[tuple[int, Outcome]]:
        """Collect the outcomes that are there, as (call, outcome); wait so long for the first."""
        outcomes: list[tuple[int, Outcome]] = []
        end = time.monotonic() + wait
        while True:
            rest = end - time.monotonic()
            try:
                block = not outcomes and rest > 0
                outcomes.append(self._outcomes.get(block, rest if block else None))
            except queue.Empty:
                return outcomes

    async def _begin(self, requests: list[Request]) -> None:
        """Begin a few at a time: replies that come meanwhile free connections to use again."""
        for number, request in enumerate(requests, 1):
            self._loop.create_task(self._call(request))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _call(self, request: Request) -> None:
        try:
            client = self._client_of(request)
        except Refused as refusal:
            outcome = Outcome(0, Fault.SETTINGS, str(refusal))
        except Exception as error:  # a call without an outcome would be waited for without end
            outcome = Outcome(0, Fault.SETTINGS, f"The server cannot be called: {error}")
        else:
            outcome = await ask_model(client, request.body, request.key, request.timeout)
        self._outcomes.put((request.call, outcome))

    def _client_of(self, request: Request) -> ModelClient:
        server, key = request.server, request.key
        name = (server.pk, server.url, key, str(server.extra_headers), str(server.extra_query))
        if name not in self._clients:
            self._clients[name] = open_server(server, key)
        return self._clients[name]

    async def _close(self) -> None:
        running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for client in self._clients.values():
            await client.close()
