"""Two model servers, one of which turns hostile or slow, or refuses one of its models."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.model_stub import ModelStub, completion

from . import traffic

SLOW_SECONDS = 40.0
HUGE = 11_000_000  # bytes
REFUSALS = {"limited": 429, "failing": 500}  # status by manner


def _reply(model: str, text: str) -> str:
    number = traffic.K if model.endswith(("2", "3")) else 0
    return traffic.says(f"w{number}", f"q{sum(text.encode()) % 100}")


def _hostile_bodies() -> list[bytes]:
    """Return replies that end a careless program, or make it count wrong."""
    good = completion("m", "yes")
    cheats: list[dict[str, Any]] = [
        {"id": "\ud83d"},
        {"id": "\0"},
        {"usage": {"prompt_tokens": 20, "completion_tokens": 2**31}},
        {"usage": {"prompt_tokens": -20, "completion_tokens": -(2**70)}},
        {"usage": {"prompt_tokens": 20, "completion_tokens": 400}},
        {"choices": [{"message": {"content": '{"answer":' + "[" * 40_000}}]},
        {"choices": [{"message": {"content": "\ud83d yes \0"}, "finish_reason": "\udc00"}]},
        {"choices": [{"message": {"content": ["yes", {"type": "text", "text": [1, None]}]}}]},
        {"choices": [{"message": {"content": "y" * 5_000_000}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "9" * 11_900 + "\nAnswer: 1"}}]},
    ]
    bodies = [json.dumps(good | cheat).encode() for cheat in cheats]
    deep = b'{"choices": ' + b"[" * 40_000
    return [*bodies, deep, b"[" * 1_000_000, b"\xff\x00" * 50, b"x" * HUGE, b"data: {}\n" * 300_000]


class Servers:
    """The good server, and the bad one.

    manner  of the latter: good, hostile, slow, or limited and failing: one of its models alone
            always gets 429 or 500
    """

    def __init__(self) -> None:
        self.good, self.bad = ModelStub(_reply), _Changing(_reply)

    def __enter__(self) -> "Servers":
        self.good.__enter__()
        self.bad.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.bad.manner = "good"
        self.bad.__exit__(None, None, None)
        self.good.__exit__(None, None, None)


class _Changing(ModelStub):
    manner = "good"
    bodies_sent = 0

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.statuses = {"bad0": REFUSALS[self.manner]} if self.manner in REFUSALS else {}
        if self.manner == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        if self.manner != "hostile":
            return await super()._answer(request)
        await request.read()
        self.bodies_sent += 1
        body = HOSTILE[self.bodies_sent % len(HOSTILE)]
        self.outcomes["hostile"] += 1
        return web.Response(body=body, content_type="application/json")


HOSTILE = _hostile_bodies()
