"""Read workbooks (.xlsx, .xls, .ods): the first visible sheet that is not empty.

python-calamine runs in a process of its own (calamine_worker.py) with limited memory and time.
Measured, with 200,000 rows of five cells: .xlsx takes 2.6 s (1.1 s to the first row) and 115 MB,
.ods 2 s and 160 MB; 65,000 rows of .xls half a second and 90 MB. A small file takes 0.04 s.
"""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from selection.errors import Refused

from .limits import Fault, Line

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
MOST_UNPACKED = 150 * 1024 * 1024  # bytes of one part, as the file itself declares them
_PACKED = b"PK\x03\x04"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_CALAMINE_WORKER = Path(__file__).with_name("calamine_worker.py")
_PARQUET_WORKER = Path(__file__).with_name("parquet_worker.py")


def is_workbook(raw: bytes) -> bool:
    """Tell if ``lines`` can read these bytes, judging by how they begin."""
    return raw.startswith(OLD_EXCEL) or _is_open_document(raw) or _is_excel(raw)


def lines(raw: bytes, name: str) -> tuple[str, Iterator[Line]]:
    """Read the kind of workbook, in words, and the rows of its sheet, the header first.

    Raises Refused, possibly only while the rows are read.
    """
    rows = _read(raw, name)
    title = next(rows, None)
    if title is None:
        raise Refused(f"{name} is empty: there is nothing in its sheets.")
    return f"{_kind(raw)} workbook, sheet “{title}”", rows


def _is_open_document(raw: bytes) -> bool:
    return raw.startswith(_OPEN_DOCUMENT, 30)


def _is_excel(raw: bytes) -> bool:
    if not raw.startswith(_PACKED):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except Exception:  # zipfile raises errors of many kinds for broken files
        return False


def _kind(raw: bytes) -> str:
    if raw.startswith(OLD_EXCEL):
        return "old Excel"
    return "OpenDocument" if _is_open_document(raw) else "Excel"


def read_parquet(raw: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """Yield (number of the row, object) of a Parquet file. Raises Refused."""
    if find_spec("arro3") is None or find_spec("arro3.io") is None:
        raise Refused(
            f"{name} is a Parquet file: install the package arro3-io to read it "
            "(pip install arro3-io), or export the table as CSV."
        )
    return enumerate(_run_worker(_PARQUET_WORKER, raw, name), 1)


def _read(raw: bytes, name: str) -> Iterator[Any]:
    _refuse_large_parts(raw, name)
    for value in _run_worker(_CALAMINE_WORKER, raw, name):
        refused = isinstance(value, dict)
        yield (value["line"], Fault(value["refused"])) if refused else value


def _run_worker(worker: Path, raw: bytes, name: str) -> Iterator[Any]:
    """Yield the values that a process of its own reads. It ends with this generator."""
    command, pipe = [sys.executable, "-I", str(worker)], subprocess.PIPE
    with subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _give(process, raw)
            yield from map(json.loads, process.stdout or ())
            if process.wait():
                raise _unreadable(name)
        except (BrokenPipeError, ValueError) as error:  # it died, perhaps within a line
            raise _unreadable(name) from error
        finally:
            process.kill()


def _refuse_large_parts(raw: bytes, name: str) -> None:
    """Raise Refused for a part that declares too many bytes; process limits catch false ones."""
    if not raw.startswith(_PACKED):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            largest = max(part.file_size for part in archive.infolist())
    except Exception as error:
        raise _unreadable(name) from error
    if largest > MOST_UNPACKED:
        raise Refused(
            f"{name} unpacks to more than {MOST_UNPACKED // 1024**2} MB; save the sheet as CSV."
        )


def _give(process: subprocess.Popen[bytes], raw: bytes) -> None:
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(raw)


def _unreadable(name: str) -> Refused:
    return Refused(
        f"{name} cannot be read: it has a password, is broken, too large, or no workbook at all; "
        "open it and save it as .xlsx or as CSV, without a password."
    )
