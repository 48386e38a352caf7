"""Connections between the parts of a stack, which can be cut."""

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

CHUNK = 65536


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Link:
    """A port that forwards to another one while it is open.

    refused   no connection is accepted
    reset     open connections break off; new ones are accepted
    hanging   data is accepted and not forwarded until the link is open again
    half      requests pass and replies do not; open connections break off in the end
    """

    def __init__(self, name: str, target: int) -> None:
        self.name, self.target, self.port = name, target, free_port()
        self.ways: tuple[asyncio.Event, asyncio.Event] | None = None
        self.server: asyncio.Server | None = None
        self.writers: set[asyncio.StreamWriter] = set()

    async def listen(self) -> None:
        if self.ways is None:
            self.ways = (asyncio.Event(), asyncio.Event())
            self._pass(True, True)
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=512)

    async def refuse(self) -> None:
        if self.server is not None:
            self.server.close()
            self.server = None
        await self.reset()

    async def reset(self) -> None:
        for writer in list(self.writers):
            # Without waiting for anything: the other side is told of a reset, not of an end.
            own = writer.get_extra_info("socket")
            if own.fileno() < 0:
                continue  # it ended by itself a moment ago
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def hang(self) -> None:
        self._pass(False, False)

    async def half(self) -> None:
        self._pass(True, False)

    async def open(self) -> None:
        assert self.ways is not None
        broken = self.ways[0].is_set() and not self.ways[1].is_set()
        self._pass(True, True)
        if broken:
            await self.reset()
        if self.server is None:
            await self.listen()

    def _pass(self, *ways: bool) -> None:
        assert self.ways is not None
        for way, passes in zip(self.ways, ways, strict=True):
            (way.set if passes else way.clear)()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self.ways is not None
        self.writers.add(writer)
        remote = None
        try:
            await self.ways[0].wait()
            back, remote = await asyncio.open_connection("127.0.0.1", self.target)
            self.writers.add(remote)
            await asyncio.gather(
                self._pump(reader, remote, self.ways[0]), self._pump(back, writer, self.ways[1])
            )
        except OSError:
            pass  # either side broke off: the other learns of it below
        finally:
            for stream in filter(None, (writer, remote)):
                self.writers.discard(stream)
                stream.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: asyncio.Event
    ) -> None:
        while data := await source.read(CHUNK):
            await way.wait()
            sink.write(data)
            await sink.drain()
        await way.wait()
        with suppress(OSError):
            sink.write_eof()


class Links:
    """All links of a stack, in a thread of their own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.all: dict[str, Link] = {}
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True, name="links")

    def __enter__(self) -> "Links":
        self.thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.do(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    async def _end(self) -> None:
        """Close all links and pumps, so that none is left to the garbage collector."""
        for link in self.all.values():
            await link.refuse()
        pumps = asyncio.all_tasks() - {asyncio.current_task()}
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)

    def add(self, name: str, target: int) -> int:
        """Add a link and return the port on which it listens."""
        link = self.all[name] = Link(name, target)
        self.do(link.listen())
        return link.port

    def do(self, action: Coroutine[Any, Any, None]) -> None:
        result: Future[None] = asyncio.run_coroutine_threadsafe(action, self.loop)
        result.result(10)
