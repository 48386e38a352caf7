"""``python -m tests.faults.overload [--seconds 60]``: the fairness of an overloaded web to workers.

Flood a web server of its own twice: by the API's document, which any stranger may request, and by
an address that is slow on purpose. Exit with 1 if an answer sent in time was rejected.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from .__main__ import place
from .stack import MARK, TOP

FLOODS = {
    "/api/openapi.json": "crowdselect.settings",
    "/slow/": "tests.faults.slow_settings",
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.overload", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="that each flood lasts")
    parser.add_argument("--only", default="", choices=["", *FLOODS], help="only this address")
    options = parser.parse_args(arguments)
    paths = [path for path in FLOODS if options.only in ("", path)]
    return max(flood(path, options.seconds) for path in paths)


def flood(path: str, seconds: float) -> int:
    """Flood this path on a stack of its own; return 1 if an answer in time was rejected."""
    with place("sqlite", keep=False) as environment:
        (Path(environment[MARK]) / "disk").mkdir()
        print(f"A flood of {path} for {seconds:g} s:", flush=True)
        return subprocess.run(
            [sys.executable, "-m", "tests.faults.flood", "--path", path, "--seconds", f"{seconds}"],
            cwd=TOP,
            env=environment | {"DJANGO_SETTINGS_MODULE": FLOODS[path]},
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
