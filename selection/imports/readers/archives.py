"""Read packed results of models: a folder as its program writes it, or a log of Inspect."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from selection.errors import Refused

from .json_lines import read_objects
from .result_formats import FORMATS, Format, recognise_format
from .results import Objects

# Of the archive and of those in it.
MOST_MEMBERS = 20_000
MOST_UNPACKED = 150 * 1024 * 1024  # bytes, as the file itself declares them
PACKED = b"PK\x03\x04"
_MEMBER = b"PK\x01\x02"  # begins the entry of each
_HEADER = "header.json"  # of a log of Inspect, beside its samples


def pack_folder(folder: Path) -> bytes:
    """Pack the result files of a folder as an archive. Raises Refused if there are none."""
    content = io.BytesIO()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {str(path.relative_to(folder.parent)): path for path in paths}
    with zipfile.ZipFile(content, "w") as archive:
        for name in _choose_members(list(names)):
            archive.write(names[name], name)
    if not archive.namelist():
        raise Refused(f"{folder} has no results of a program that evaluates models.")
    return content.getvalue()


def open_results(archive: "Archive") -> tuple[Format, Objects]:
    """Find the format of the results in an archive, and their objects. Raises Refused."""
    found = list(_read_members(archive))
    formats = {form.title: form for form, _ in found}
    if len(formats) != 1:
        programs = f"results of {' and '.join(formats)}" if formats else "no results of models"
        raise Refused(
            f"{archive.name} is a packed file with {programs}: pack the results of one program, or "
            "export the table as CSV."
        )
    ((_, form),) = formats.items()
    return form, (entry for _, read in found for entry in read())


def _choose_members(names: list[str]) -> list[str]:
    shown = sorted(name for name in names if not name.startswith("__MACOSX/"))
    named = [n for n in shown if any(f.path and f.path.fullmatch(n) for f in FORMATS)]
    return named or [n for n in shown if n.endswith((".json", ".jsonl", ".eval"))]


class Archive:
    """A packed file, and how much of the limits it and the archives in it have used."""

    def __init__(self, raw: bytes, name: str, outer: "Archive | None" = None) -> None:
        self.name = name
        self.members: int = raw.count(_MEMBER) + (outer.members if outer else 0)
        if self.members > MOST_MEMBERS:  # counted before zipfile, which takes long for many
            raise Refused(f"{name} packs more than {MOST_MEMBERS:,} files.")
        self.archive = zipfile.ZipFile(io.BytesIO(raw))
        self.names = self.archive.namelist()
        self.unpacked = sum(part.file_size for part in self.archive.infolist())
        self.unpacked += outer.unpacked if outer else 0
        if self.unpacked > MOST_UNPACKED:
            raise Refused(
                f"{name} unpacks to more than {MOST_UNPACKED // 1024**2} MB: split it into smaller "
                "files, or save the table as CSV."
            )

    def open(self, content: bytes) -> "Archive":
        """Open an archive in this one. What it unpacks to counts for both."""
        inner = Archive(content, self.name, self)
        self.members, self.unpacked = inner.members, inner.unpacked
        return inner


def _read_members(archive: Archive) -> Iterator[tuple[Format, Callable[[], Objects]]]:
    log = next(form for form in FORMATS if form.title == "Inspect")
    if _HEADER in archive.names:
        yield log, partial(_read_log, archive)
        return
    for member in _choose_members(archive.names):
        content = archive.archive.read(member)
        if content.startswith(PACKED):
            yield log, partial(_read_log, archive.open(content))
            continue
        text, place = content.decode("utf-8-sig", "replace"), f"{archive.name}, {member}"
        first = next(read_objects(text, place), (1, {}))[1]
        form = recognise_format(set(first)) if isinstance(first, dict) else None
        if form and not form.refusal:
            yield form, partial(_read_text, text, place, member)


def _read_text(text: str, place: str, member: str) -> Objects:
    return ((line, value, member) for line, value in read_objects(text, place))


def _read_log(archive: Archive) -> Objects:
    header = json.loads(archive.archive.read(_HEADER))
    for name in sorted(name for name in archive.names if name.startswith("samples/")):
        yield 1, {**header, "samples": [json.loads(archive.archive.read(name))]}, ""
