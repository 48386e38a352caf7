"""`make check`: look for known holes in the packages of requirements-dev.txt (pip-audit).

That needs the package index, or PIP_AUDIT_OPTIONS for another source. Where it cannot be asked,
this says so, and fails nothing: a check must not depend on a network.
"""

import json
import os
import shlex
import subprocess
import sys
from typing import Any

SECONDS = 90
COMMAND = [
    *(sys.executable, "-m", "pip_audit", "--requirement", "requirements-dev.txt"),
    *("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"),
    *("--timeout", "10"),
]


def main() -> int:
    more = shlex.split(os.environ.get("PIP_AUDIT_OPTIONS", ""))
    try:
        done = subprocess.run([*COMMAND, *more], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return skipped(f"the package index did not answer within {SECONDS} seconds")
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (done.stderr.strip() or "nothing").splitlines()[-1]
        return skipped(f"the package index cannot be asked ({last})")
    return verdict(found)


def verdict(found: list[dict[str, Any]]) -> int:
    """Print the holes of each package; 1 if any has one."""
    asked = [one for one in found if "skip_reason" not in one]
    if not asked:
        return skipped("the package index here knows none of these packages")
    holes = [(one, hole) for one in asked for hole in one["vulns"]]
    for one, hole in holes:
        mended = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"{one['name']} {one['version']}: {hole['id']}, mended in {mended}")
    left = len(found) - len(asked)
    unknown = f" ({left} are not known there)" if left else ""
    print(f"Known holes in {len(asked)} packages{unknown}: {len(holes)}")
    return int(bool(holes))


def skipped(why: str) -> int:
    print(f"skipped: known holes in packages were not looked up, because {why}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
