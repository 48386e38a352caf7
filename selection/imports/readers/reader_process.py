"""Read a file in a process of its own, with limited memory and time.

If that process dies, the file is refused. It has neither the settings nor the environment, so no
secrets. A small file takes 0.2 s.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from typing import Any

from selection.errors import Refused

from .limits import Fault
from .results import Choice
from .structured import Opened, open_lines

MOST_MEMORY = 1024**3  # bytes of addresses; 200,000 rows of twenty cells take 450 MB
MOST_SECONDS = 30  # of a processor
SHORT = 1024 * 1024  # bytes of a file, and of what is read of it, that are kept
_START = """
from django.conf import settings
settings.configure(MOST_FILE_MB=0, MOST_FILE_ROWS=0)  # the process that asks checks these
from selection.imports.readers import reader_process
reader_process.main()
"""


def open_apart(raw: bytes, name: str, **options: Any) -> Opened:
    """Run ``open_lines`` in a process that ends with the iterator of the lines."""
    request = json.dumps({"name": name, **options})
    kept = _read_short(request, raw) if len(raw) < SHORT else None
    values = _parse_lines(_run_reader(request, raw) if kept is None else kept)
    kind, choices = next(values)
    lines = ((n, Fault(cells) if isinstance(cells, str) else cells) for n, cells in values)
    return kind, choices and [Choice(**choice) for choice in choices], lines


def _parse_lines(lines: Iterable[bytes]) -> Iterator[Any]:
    for value in map(json.loads, lines):
        if isinstance(value, dict):
            raise Refused(value["refused"])
        yield value


@lru_cache(maxsize=8)
def _read_short(request: str, raw: bytes) -> list[bytes] | None:
    """Read all lines of a file that pages read again in a moment; None if they are many."""
    kept, size = [], 0
    for line in _run_reader(request, raw):
        size += len(line)
        if size > SHORT:
            return None
        kept.append(line)
    return kept


def _run_reader(request: str, raw: bytes) -> Iterator[bytes]:
    command, pipe = [sys.executable, "-P", "-c", _START], subprocess.PIPE
    environment = {n: text for n, text in os.environ.items() if n.startswith(("LD_", "DYLD_"))}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    with subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.writelines((request.encode(), b"\n", raw))
            for line in process.stdout:
                if line.endswith(b"\n"):  # it may die within a line
                    yield line
            if process.wait():
                yield _refuse(_explain_end(json.loads(request)["name"], process.returncode))
        finally:
            process.kill()


def _refuse(reason: str) -> bytes:
    return json.dumps({"refused": reason}).encode() + b"\n"


def _explain_end(name: str, status: int) -> str:
    if status == 1:  # an exception
        return (
            f"{name} cannot be read: it has a password, is broken, too large, or another program's "
            "document; open it and save it as .xlsx or as CSV, without a password."
        )
    return (
        f"{name} is too large: reading it takes more than {MOST_MEMORY >> 20:,} MB of memory or "
        f"{MOST_SECONDS} seconds. Split it into smaller files, or save the table as CSV."
    )


def main() -> None:
    limits = (resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS)
    for limit, most in (*limits, (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    options = json.loads(sys.stdin.buffer.readline())
    try:
        kind, choices, lines = open_lines(sys.stdin.buffer.read(), **options)
        head: Any = [kind, choices and list(map(asdict, choices))]
        for value in chain([head], lines):
            sys.stdout.write(json.dumps(value) + "\n")
    except Refused as refusal:
        sys.stdout.write(_refuse(str(refusal)).decode())
    except MemoryError:
        sys.exit(2)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
