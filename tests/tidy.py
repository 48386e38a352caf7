"""Mend the ends of lines and files: ``python -m tests.tidy FILE...``. Fails if it had to."""

import re
import sys
from pathlib import Path


def tidy(text: str) -> str:
    """Without blanks at the end of a line, with one line break at the end if there is a line."""
    return re.sub(r"[ \t]+(?=\n|\Z)", "", text).rstrip("\n") + ("\n" if text.strip() else "")


def main(names: list[str]) -> int:
    changed = 0
    for path in map(Path, names):
        text = path.read_bytes().decode("utf-8")
        if (wanted := tidy(text)) != text:
            path.write_bytes(wanted.encode("utf-8"))
            sys.stdout.write(f"{path} was mended\n")
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
