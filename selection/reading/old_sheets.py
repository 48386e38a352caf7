"""Workbooks of old Excel (.xls) and OpenDocument (.ods), read in a process of their own (apart.py).

Measured, with 200,000 rows of five cells: .ods takes 2 s and 160 MB, which are given back with the
process; 65,000 of .xls, which can hold no more, half a second and 90 MB. Of .xlsx the same library
took 2.5 s and 100 MB to its first row, and sheets.py a fiftieth of a second and none: it stays.
"""

import json
import subprocess  # nosec B404
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selection.errors import Refused

from .limits import Line

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_APART = Path(__file__).with_name("apart.py")


def is_old(raw: bytes) -> bool:
    return raw.startswith(OLD_EXCEL) or raw.startswith(_OPEN_DOCUMENT, 30)


def lines(raw: bytes, name: str) -> tuple[str, Iterator[Line]]:
    """What it is, in words, and the rows of its sheet, the header first. Raises Refused."""
    found = _read(raw, name)
    title = next(found, None)
    if title is None:
        raise Refused(f"{name} is empty: there is nothing in its sheets.")
    what = "old Excel" if raw.startswith(OLD_EXCEL) else "OpenDocument"
    return f"{what} workbook, sheet “{title}”", ((line, cells) for line, cells in found)


def _read(raw: bytes, name: str) -> Iterator[Any]:
    """What the other process writes. It ends with whoever reads this."""
    command, pipe = [sys.executable, "-I", str(_APART)], subprocess.PIPE
    with subprocess.Popen(  # noqa: S603  # nosec B603
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as apart:
        try:
            _give(apart, raw)
            yield from map(json.loads, apart.stdout or ())
            if apart.wait():
                raise _unreadable(name)
        except BrokenPipeError as error:
            raise _unreadable(name) from error
        finally:
            apart.kill()


def _give(apart: subprocess.Popen[bytes], raw: bytes) -> None:
    assert apart.stdin is not None
    with apart.stdin as pipe:
        pipe.write(raw)


def _unreadable(name: str) -> Refused:
    return Refused(
        f"{name} cannot be read: it has a password, is broken, too large, or no workbook at all; "
        "open it and save it as .xlsx or as CSV, without a password."
    )
