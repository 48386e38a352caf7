"""A model server of the tests: it replays answers, counts calls, and fails as told."""

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Reply = Callable[[str, str], str]
PROMPT_TOKENS, REPLY_TOKENS = 20, 2


class ModelStub:
    """Speaks the OpenAI protocol on a port of its own; ``with`` starts and stops it.

    reply     text of the reply to (model, text of the question)
    faults    share of calls that fail, in one of the ways of ``FAULTS`` by its weight
    silence   seconds until a silent call is answered
    seconds   delay of every reply
    """

    FAULTS = {"limited": 4, "broken": 4, "silent": 1, "truncated": 4, "malformed": 4}

    def __init__(
        self,
        reply: Reply,
        faults: float = 0.0,
        seconds: float = 0.0,
        silence: float = 8.0,
        seed: int = 1,
    ) -> None:
        self.reply, self.faults, self.seconds, self.silence = reply, faults, seconds, silence
        self.rng = random.Random(seed)
        self.status: int | None = None  # of every answer, if set
        self.statuses: dict[str, int] = {}  # of every answer of a model
        self.error = "no"
        self.usage: dict[str, Any] = {}  # the usage claimed by replies
        self.refused: dict[str, str] = {}  # parameters, with the server's words
        self.keys: set[str] = set()
        self.bodies: list[dict[str, Any]] = []
        self.outcomes: Counter[str] = Counter()
        self.most_at_once = self.at_once = 0
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> int:
        return sum(self.outcomes.values())

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    async def _stop(self) -> None:
        await self._runner.cleanup()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m1"}, {"id": "m2"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(request)
        finally:
            self.at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.keys.add(request.headers.get("Authorization", ""))
        await asyncio.sleep(self.seconds)
        status = self.statuses.get(body["model"], self.status)
        if status is not None:
            self.outcomes["status"] += 1
            return web.json_response({"error": {"message": self.error}}, status=status)
        for name in [name for name in self.refused if name in body][:1]:
            self.outcomes["refused"] += 1
            told = f"Unsupported parameter: '{name}'. {self.refused[name]}"
            return web.json_response({"error": {"message": told, "param": name}}, status=400)
        if self.rng.random() < self.faults:
            return await self._fail(request)
        self.outcomes["replied"] += 1
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        made = completion(body["model"], self.reply(body["model"], text))
        made["usage"] |= self.usage
        return web.json_response(made)

    async def _fail(self, request: web.Request) -> web.StreamResponse:
        way = self.rng.choices(list(self.FAULTS), list(self.FAULTS.values()))[0]
        self.outcomes[way] += 1
        if way == "limited":
            headers = {"retry-after": "0.05"}
            return web.json_response({"error": {"message": "slow"}}, status=429, headers=headers)
        if way == "broken":
            return web.json_response({"error": {"message": "broken"}}, status=500)
        if way == "silent":
            await asyncio.sleep(self.silence)
        if way == "truncated":
            text = json.dumps(completion("m", "A"))
            response = web.StreamResponse(headers={"Content-Length": str(len(text))})
            await response.prepare(request)
            await response.write(text[:20].encode())
            assert request.transport is not None
            request.transport.close()
            return response
        return web.Response(text='{"choices": []}', content_type="application/json")


def completion(model: str, text: str) -> dict[str, Any]:
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": REPLY_TOKENS,
            "total_tokens": PROMPT_TOKENS + REPLY_TOKENS,
        },
    }
