"""`make check`: find a wheel of every requirement for each Python and platform we name.

Nothing is installed and nothing may be compiled: a newcomer's machine has no compiler. Without a
package index the check is skipped, because it must not depend on a network.
"""

import subprocess
import sys
from itertools import product

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin")
COMMAND = (
    *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:"),
    *("--no-binary", "topk"),  # of this checkout
)
UNREACHABLE = ("Failed to fetch", "error sending request", "dns error")
SECONDS = 120


def main() -> int:
    failures = 0
    for python, platform in product(PYTHONS, PLATFORMS):
        problem = find_problem(python, platform)
        if any(sign in problem for sign in UNREACHABLE):
            print("skipped: wheels were not looked up, because the package index cannot be asked.")
            return 0
        if problem:
            print(f"Python {python} on {platform}: {problem}")
            failures += 1
    print(f"Wheels for {len(PYTHONS)} Pythons on {len(PLATFORMS)} platforms: {failures} missing")
    return int(bool(failures))


def find_problem(python: str, platform: str) -> str:
    """Resolve requirements.txt for this Python and platform; the resolver's words if it fails."""
    place = ("--python-version", python, "--python-platform", platform, "requirements.txt")
    try:
        done = subprocess.run([*COMMAND, *place], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"Failed to fetch within {SECONDS} seconds"
    return done.stderr.strip() if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
