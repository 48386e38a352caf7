"""``python -m tests.faults [--database sqlite|postgresql] [--minutes M] [--faults N] [--seed S]``.

Inject faults into a stack of its own while a crowd answers; exit with 1 if a law was broken. It
starts everything it needs, and cleans up.
"""

import argparse
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from .links import free_port
from .services import unmount
from .stack import MARK, TOP, marked

DATABASES = ("sqlite", "postgresql")
FIGURES = {
    "runs": "runs, all ended",
    "answers": "answers that the crowd was told are taken",
    "lapsed": "questions whose time was up",
    "steps": "steps",
    "outages": "outages given back, by run",
    "model calls": "calls of models",
    "model replies": "of them replied",
    "away": "requests without an answer",
    "busy": "requests put off (503)",
}
REST_SECONDS = 400  # besides the faults: starting, and coming to an end


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    kinds = [options.database] if options.database else DATABASES
    flags = ["--seed", str(options.seed), "--only", options.only]
    flags += ["--faults", str(options.faults // len(kinds)), "--seconds", str(60 * options.minutes)]
    results = play(kinds, flags, 60 * options.minutes, options.keep)
    if None in results.values():
        return 2
    print(table(results))
    broken = [f"{kind}: {fault}" for kind, result in results.items() for fault in result["wrong"]]
    print("\n".join(broken) or "Every law held.")
    return int(bool(broken))


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    add = parser.add_argument
    add("--database", choices=DATABASES, help="only this one; else both, side by side")
    add("--minutes", type=float, default=11.0, help="of faults (starting comes besides)")
    add("--faults", type=int, default=210, help="how many, in all")
    add("--seed", type=int, default=1, help="which faults, when")
    add("--only", default="", help="only faults whose name has this word, such as redis")
    add("--keep", action="store_true", help="leave the folder with logs and database")
    return parser.parse_args(arguments)


def play(
    kinds: Sequence[str], flags: list[str], seconds: float, keep: bool
) -> dict[str, dict[str, Any] | None]:
    """Play all databases side by side, as they mostly wait; the result is None if a play failed."""
    with ExitStack() as until_end:
        children = {}
        for kind in kinds:
            environment = until_end.enter_context(place(kind, keep))
            children[kind] = _begin(flags, environment)
            until_end.callback(_end, children[kind])
        deadline = time.monotonic() + seconds + REST_SECONDS
        return {kind: _said(child, deadline) for kind, child in children.items()}


def _begin(flags: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.faults.play", *flags]
    return subprocess.Popen(command, cwd=TOP, env=environment, stdout=subprocess.PIPE)


def _said(child: subprocess.Popen[bytes], deadline: float) -> dict[str, Any] | None:
    output, _ = child.communicate(timeout=deadline - time.monotonic())
    return json.loads(output) if child.returncode == 0 else None


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(60)


@contextmanager
def place(kind: str, keep: bool) -> Iterator[dict[str, str]]:
    """Yield an environment with a folder and ports of its own, and clean up in any case."""
    folder = Path(tempfile.mkdtemp(prefix="crowdselect-faults-"))
    folder.chmod(0o755)
    variables = {
        MARK: str(folder),
        "DATABASE_URL": _address(kind, folder),
        "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "SWEEP_SECONDS": "3",
        "ADVANCE_DELAY_SECONDS": "0.2",
        "LOG_LEVEL": "WARNING",
        "MODELS_INSIDE": "yes",
        "TMPDIR": str(folder),  # leftovers of a killed process go with it
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        yield os.environ | variables
    finally:
        for pid in marked(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if keep:
            print(f"Kept: {folder}", file=sys.stderr)
        else:
            unmount(folder / "disk")
            shutil.rmtree(folder, ignore_errors=True)


def _address(kind: str, folder: Path) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'disk' / 'faults.sqlite3'}"
    return f"postgresql://postgres@127.0.0.1:{free_port()}/faults"


def table(results: dict[str, dict[str, Any]]) -> str:
    """Return the table of docs/reliability.md."""
    lines = ["| | " + " | ".join(results) + " |", "|---|" + "---:|" * len(results)]

    def row(title: str, values: list[int]) -> None:
        lines.append(f"| {title} | " + " | ".join(f"{value:,}" for value in values) + " |")

    own = list(results.values())
    row("faults", [sum(one["faults"].values()) for one in own])
    row("kinds of fault", [len(one["faults"]) for one in own])
    row("times all laws were looked at", [one["checks"] for one in own])
    for name, words in FIGURES.items():
        row(words, [one["figures"].get(name, 0) for one in own])
    row("laws broken", [len(one["wrong"]) for one in own])
    for kind, one in results.items():
        for name, why in one["skipped"].items():
            lines.append(f"\n{kind}: without “{name}”, because {why}.")
    return "\n".join(lines)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
