"""Files that a model file names: texts of prompts, and the data."""

import re
from itertools import islice
from pathlib import Path, PurePath

from selection.errors import Refused
from selection.limits import LONGEST_TEXT

MOST_FILES = 1_000  # of one pattern
LONGEST_CHARACTER = 4  # bytes
_PATTERN = re.compile(r"\S+\.(txt|md)|[^\n*]*\*[^\n]*\.(txt|md)")


def is_file_pattern(text: object) -> bool:
    """Tell if a text names files: it is one word, or has an asterisk, and ends in .txt or .md."""
    return isinstance(text, str) and _PATTERN.fullmatch(text) is not None


def read_texts(folder: Path | None, pattern: str) -> list[tuple[str, str]]:
    """List the name, without its suffix, and the text of each file that matches the pattern.

    folder  of the model file; None: it was not read from a folder. Raises Refused for a fault.
    """
    if folder is None:
        raise Refused(f"“{pattern}” names files, which only the command reads: write the text here")
    find_file(folder, pattern)
    try:
        paths = sorted(islice(filter(Path.is_file, folder.glob(pattern)), MOST_FILES + 1))
    except (ValueError, NotImplementedError) as error:
        raise Refused(f"“{pattern}” is no pattern of files: {str(error).lower()}") from error
    if not paths:
        raise Refused(f"no file matches “{pattern}” in the folder of the YAML file")
    if len(paths) > MOST_FILES:
        raise Refused(f"more than {MOST_FILES:,} files match “{pattern}”")
    return [(path.stem, _read_text(folder, path)) for path in paths]


def find_file(folder: Path, name: str) -> Path:
    """Find a file by its name relative to the folder. Raises Refused if it is not in the folder."""
    path = PurePath(name)
    inside = not path.is_absolute() and ".." not in path.parts
    if not (inside and (folder / path).resolve().is_relative_to(folder.resolve())):
        raise Refused(f"“{name}” is outside the folder of the YAML file")
    return folder / path


def _read_text(folder: Path, path: Path) -> str:
    name = path.relative_to(folder)
    find_file(folder, str(name))  # a link may lead outside
    if path.stat().st_size > LONGEST_CHARACTER * LONGEST_TEXT:
        raise Refused(f"{name} has more than {LONGEST_TEXT:,} characters")
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip()
    except UnicodeDecodeError as error:
        raise Refused(f"{name} is not in UTF-8") from error
    if not text or "\0" in text or len(text) > LONGEST_TEXT:
        raise Refused(f"{name} must have 1 to {LONGEST_TEXT:,} characters, and no NUL")
    return text
