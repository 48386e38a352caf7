"""Tests of what a change touched: ``python -m tests.touched [REVISION]`` names them for pytest.

Changed are the files that differ from the revision (HEAD), and those that git does not know yet. A
room's tests lie in the folder of the same name; a file without such a folder has those of the room
around it, a page those of all pages.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
OF = {  # where tests of a package begin
    "selection": "tests/selection",
    "crowdselect": "tests/project",
    "research": "tests/research",
    "packages/topk/topk": "packages/topk/tests",
    "packages/crowdselect-client/crowdselect_client": "tests/crowdselect_client",
    "templates": "tests/selection/admin",
    "static": "tests/selection/admin",
    "docs": "tests/project/test_house.py",
}
CODE = (".py", ".html", ".js", ".css", ".md")


def list_changes(revision: str) -> list[str]:
    words = ["git", "diff", "--name-only", "--diff-filter=d", revision]
    known = subprocess.check_output(words, cwd=TOP, text=True)
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    return (known + subprocess.check_output(new, cwd=TOP, text=True)).split()


def find_tests(path: str) -> str | None:
    """Find the tests of a file; None if it has none of its own."""
    if path.startswith(("tests/", "packages/topk/tests/")):
        return path if Path(path).name.startswith("test_") else None
    for package, tests in OF.items():
        if path.startswith(f"{package}/") and path.endswith(CODE):
            room = Path(tests, *Path(path).relative_to(package).parts[:-1])
            own = Path(room, f"test_{Path(path).stem}.py")
            return str(own if (TOP / own).exists() else _nearest(room))
    return None


def _nearest(room: Path) -> Path:
    return room if (TOP / room).exists() else _nearest(room.parent)


def without_parts(places: set[str]) -> Iterator[str]:
    """Leave out what lies in another place of these."""
    for place in sorted(places):
        if not any(str(parent) in places for parent in Path(place).parents):
            yield place


def main() -> None:
    changes = list_changes(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    places = {place for path in changes if (place := find_tests(path))}
    print(*without_parts(places) or ["tests/project/test_house.py"])


if __name__ == "__main__":
    main()
