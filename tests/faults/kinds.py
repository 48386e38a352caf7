"""Kinds of fault that a stack can suffer, and their repair."""

import io
import os
import random
import signal
import threading
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import httpx
import redis
from django.db import DatabaseError, connections, transaction

from selection.models import ApiToken, Pool, Run

from .links import Link
from .services import Heal, Service
from .stack import Stack

QUEUE = "celery"
LONGEST_LOCK = 20.0


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    name    for the table
    strike  causes it for about so many seconds; returns a function that ends it
    place   of two faults at one place the second waits for the end of the first
    where   "sqlite", "postgresql", or empty for both
    brief   True if it is over as soon as it has happened
    cannot  returns the reason that rules it out on this machine, or ""
    """

    name: str
    strike: Callable[[Stack, random.Random, float], Heal]
    place: str
    where: str = ""
    brief: bool = False
    cannot: Callable[[Stack], str] = lambda stack: ""

    def fits(self, stack: Stack) -> bool:
        return self.where in ("", "sqlite" if stack.sqlite else "postgresql")


def nothing() -> None:
    """Repair of a brief fault, which needs none."""


# -- processes


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _of(stack: Stack, part: str, role: str, rng: random.Random) -> list[int]:
    """Return one child, all children, the first process, or all processes of the part."""
    children, masters = stack.children(part), stack.masters(part)
    if role == "child":
        return [rng.choice(children)] if children else []
    return {"children": children, "master": masters, "all": masters + children}[role]


def _signalled(part: str, role: str, number: int) -> Kind:
    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        _send(_of(stack, part, role, rng), number)
        return nothing

    return Kind(f"{part} {role}: {signal.Signals(number).name}", strike, part, brief=True)


def _paused(part: str, role: str) -> Kind:
    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        pids = _of(stack, part, role, rng)
        _send(pids, signal.SIGSTOP)
        return lambda: _send(pids, signal.SIGCONT)

    return Kind(f"{part} {role}: paused", strike, part)


# -- Redis and PostgreSQL


def _service(stack: Stack, name: str) -> Service:
    service = stack.redis if name == "redis" else stack.database
    assert service is not None
    return service


def _ended(name: str, number: int, manner: str) -> Kind:
    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        _service(stack, name).end(number)
        return _service(stack, name).start

    return Kind(f"{name}: {manner}", strike, name, where=_where(name))


def _frozen(name: str) -> Kind:
    """Pause the server with, for PostgreSQL, all its processes."""

    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        service = _service(stack, name)
        assert service.process is not None
        group = service.process.pid
        pids = [group] if name == "redis" else _session(group)
        _send(pids, signal.SIGSTOP)
        return lambda: _send(pids, signal.SIGCONT)

    return Kind(f"{name}: paused", strike, name, where=_where(name))


def _session(leader: int) -> list[int]:
    pids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.getsid(int(name)) == leader:
                pids.append(int(name))
    return pids


def _where(name: str) -> str:
    return "postgresql" if name == "database" else ""


def _kill_backend(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    """Kill one server process: PostgreSQL restarts all of them."""
    service = _service(stack, "database")
    assert service.process is not None
    _send([rng.choice(_session(service.process.pid))], signal.SIGKILL)
    return service.start


def _flush(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    with suppress(redis.RedisError), _redis(stack) as server:
        server.flushall()
    return nothing


def _repeat(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    """Triple the waiting messages and shuffle them."""
    with suppress(redis.RedisError), _redis(stack) as server:
        waiting = server.lrange(QUEUE, 0, -1) * 3
        rng.shuffle(waiting)
        with server.pipeline() as all_at_once:
            all_at_once.delete(QUEUE)
            if waiting:
                all_at_once.rpush(QUEUE, *waiting)
            all_at_once.execute()
    return nothing


def _redis(stack: Stack) -> redis.Redis:
    return redis.Redis(port=stack.redis.port, socket_timeout=2, socket_connect_timeout=2)


# -- the database


def _lock(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    """Lock a run from another connection, or with SQLite the whole database."""
    over = threading.Event()

    def hold() -> None:
        with suppress(DatabaseError), transaction.atomic():
            runs = Run.objects.running().values_list("pk", flat=True)
            Run.objects.locked(rng.choice(list(runs) or [0]))
            over.wait(min(seconds, LONGEST_LOCK))
        connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()

    def let_go() -> None:
        over.set()
        thread.join(40)

    return let_go


def _fill(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    stack.disk.fill()

    def empty() -> None:
        stack.disk.empty()
        if stack.database is not None:
            stack.database.start()

    return empty


def _no_disk(stack: Stack) -> str:
    return "" if stack.disk.small else "no small disk can be mounted here"


# -- links


def _cut(name: str, how: str) -> Kind:
    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        link = stack.links.all[name]
        stack.links.do(getattr(Link, how)(link))
        return lambda: stack.links.do(link.open())

    words = {"refuse": "cut", "reset": "broken off", "hang": "hanging", "half": "half open"}[how]
    where = "postgresql" if name.endswith("database") else ""
    return Kind(f"{name}: {words}", strike, name, where=where, brief=how == "reset")


# -- files


@cache
def _pack_gigabyte() -> bytes:
    """Pack zeros in an archive in an archive: a few kilobytes."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("samples/1.json", "w") as member:
            for _ in range(1024):
                member.write(bytes(1 << 20))
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.eval", inner.getvalue())
    return outer.getvalue()


def _upload_archive(stack: Stack, rng: random.Random, seconds: float) -> Heal:
    with suppress(DatabaseError, httpx.HTTPError):
        headers = {"Authorization": f"Bearer {ApiToken.issue('archive')}"}
        address = f"{stack.url}/api/pools/{Pool.objects.earliest('pk').pk}/files"
        file = {"file": ("a.zip", _pack_gigabyte())}
        reply = httpx.post(address, files=file, headers=headers, timeout=30)
        assert reply.status_code in (422, 503), reply.text
    return nothing


# -- servers of models


def _model_server(manner: str) -> Kind:
    def strike(stack: Stack, rng: random.Random, seconds: float) -> Heal:
        stack.models.bad.manner = manner
        return lambda: setattr(stack.models.bad, "manner", "good")

    return Kind(f"model server: {manner}", strike, "model server")


ENDS = (signal.SIGKILL, signal.SIGTERM)
LINKS = (
    "crowd to web",
    "web to database",
    "worker to database",
    "web to redis",
    "worker to redis",
    "beat to redis",
)
KINDS: list[Kind] = [
    *(_signalled("worker", role, number) for role in ("child", "master") for number in ENDS),
    *(_signalled("web", role, number) for role in ("child", "master") for number in ENDS),
    *(_signalled("beat", "master", number) for number in ENDS),
    *(_signalled("models", role, signal.SIGKILL) for role in ("child", "master")),
    *(_paused("worker", role) for role in ("child", "children", "master")),
    *(_paused("web", role) for role in ("child", "children", "all")),
    _paused("beat", "master"),
    _ended("redis", signal.SIGKILL, "killed"),
    _ended("redis", signal.SIGTERM, "stopped"),
    _frozen("redis"),
    Kind("redis: emptied", _flush, "redis", brief=True),
    Kind("messages: tripled and shuffled", _repeat, "redis", brief=True),
    _ended("database", signal.SIGKILL, "killed hard"),
    _ended("database", signal.SIGINT, "restarted (fast)"),
    _ended("database", signal.SIGQUIT, "restarted (immediate)"),
    _frozen("database"),
    Kind("database: a server process killed", _kill_backend, "database", "postgresql"),
    Kind("database: a run held", _lock, "lock", "postgresql"),
    Kind("database: file held", _lock, "lock", "sqlite"),
    Kind("disk full", _fill, "database", cannot=_no_disk),
    Kind("file: an archive of a gigabyte", _upload_archive, "file", brief=True),
    *(_model_server(manner) for manner in ("hostile", "slow", "limited", "failing")),
    *(_cut(name, how) for name in LINKS for how in ("refuse", "reset", "hang", "half")),
]
