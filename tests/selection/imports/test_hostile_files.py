"""Files that take much more than they weigh, at every door: refused, without the memory of ours."""

import io
import json
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, Table
from arro3.io import write_parquet
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from selection import tasks
from selection.outbox import celery_messages
from tests.pages import admin_url, text_of
from tests.worlds import make_questions

from .readers.files import of_cells, replaced, workbook

MB = 1024 * 1024
MOST = 200 * MB  # of the process that serves pages
WHY = (
    "unpacks to more than 150 MB",
    "packs more than 20,000 files",
    "is too large: reading it takes more than",
    "cannot be read: it has a password",
    "a cell is longer than 100,000 characters",
)
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc"),
]


# -- files


def pack(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return content.getvalue()


def pack_log(sample: bytes) -> bytes:
    return pack({"header.json": b'{"eval": {"model": "a"}}', "samples/1.json": sample})


def pack_gigabytes(count: int) -> bytes:
    """Pack zeros in a log in an archive: a few kilobytes."""
    content, zeros = io.BytesIO(), bytes(64 * MB)
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("samples/1.json", "w", force_zip64=True) as member:
            for _ in range(16 * count):
                member.write(zeros)
    return pack({"a.eval": content.getvalue()})


def lie_about_sizes(raw: bytes) -> bytes:
    """Declare that each member has 1,000 bytes."""
    made, place = bytearray(raw), raw.find(b"PK\x01\x02")
    while place >= 0:
        made[place + 24 : place + 28] = struct.pack("<I", 1000)
        place = raw.find(b"PK\x01\x02", place + 4)
    return bytes(made)


def build_parquet() -> bytes:
    text = DataType.utf8()
    cells = ["x" * MB] * 300
    columns = {name: Array(cells, type=text) for name in ("question", "prompt")}
    content = io.BytesIO()
    write_parquet(Table.from_pydict(columns), content, compression="zstd(3)")
    return content.getvalue()


VALUES, MORE = (b"[" + b"{}," * (millions * 10**6) + b"{}]" for millions in (10, 40))
ROW = '<row><c t="str"><v>%s</v></c></row>' % ("x" * 1000)
FILES: dict[str, Callable[[], bytes]] = {
    "4GB.zip": lambda: pack_gigabytes(4),
    "values.zip": lambda: pack({"a.eval": pack_log(MORE)}),
    "results.zip": lambda: pack({"a.json": b'{"eval": {}, "samples": %s}' % MORE}),
    "false.zip": lambda: pack({"a.eval": lie_about_sizes(pack_log(bytes(1500 * MB)))}),
    "values.json": lambda: b'[{"question": "q", "prompt": %s}]' % VALUES,
    "members.zip": lambda: pack({f"{i}.json": b"{}" for i in range(300_000)}, 0),
    "sheet.xlsx": lambda: replaced(workbook([["a"]]), sheet1=of_cells(ROW * 160_000)),
    "false.xlsx": lambda: lie_about_sizes(
        replaced(workbook([["a"]]), sheet1=of_cells(ROW * 1_000_000))
    ),
    "bomb.parquet": build_parquet,
}


# -- doors: each returns what a person or a program reads

Doors = dict[str, Callable[[str, bytes], str]]


@pytest.fixture
def doors(requester: Any, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doors:
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
    questions, headers = make_questions(1).pk, {"authorization": f"Bearer {token}"}

    def send(address: str, form: dict[str, Any]) -> str:
        reply = requester.post(address, form, follow=True)
        assert reply.status_code in (200, 422), reply.status_code
        return text_of(reply)

    def call(path: str, form: dict[str, Any]) -> str:
        reply = requester.post(f"/api/{path}", form, headers=headers)
        if reply.status_code == 202:  # a large file is read later
            tasks.work_on_long_job(reply.json()["id"])
            reply = requester.get(reply["Location"], headers=headers)
        return reply.json()["error"]

    def run(*words: str) -> str:
        with pytest.raises(CommandError) as caught:
            call_command(*words)
        return str(caught.value)

    def write(name: str, raw: bytes) -> str:
        (tmp_path / name).write_bytes(raw)
        return str(tmp_path / name)

    (tmp_path / "models.yaml").write_text(
        "servers: {a: {url: 'http://127.0.0.1:9/v1', key: k}}\nmodels: [{server: a, model: m}]\n"
    )
    goal = {"k": 1, "epsilon": 0.2, "delta": 0.1}
    typed = {"k": 1, "precise": "0.2", "sure": "0.1", "price": "0.05", "currency": "€"}
    file = SimpleUploadedFile
    page = reverse("admin:selection_questionset_import", args=[questions])
    return {
        "page": lambda name, raw: send(page, {"file": file(name, raw)}),
        "API": lambda name, raw: call(
            f"question-sets/{questions}/files", {"file": file(name, raw)}
        ),
        "past answers": lambda name, raw: send(
            admin_url("run_past"), typed | {"answers": file(name, raw)}
        ),
        "replay by API": lambda name, raw: call("replays", goal | {"file": file(name, raw)}),
        "replay": lambda name, raw: run("replay", "--answers", write(name, raw), "--k", "1"),
        "evaluate": lambda name, raw: run(
            "evaluate", str(tmp_path / "models.yaml"), write(name, raw)
        ),
    }


@contextmanager
def bound_memory() -> Iterator[None]:
    """Fail if the process takes more memory at any time."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = _read_peak()
    yield
    assert _read_peak() - before < MOST


def _read_peak() -> int:
    (line,) = (x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_takes_more_than_it_weighs_is_refused(name, doors):
    refuse(doors, "API", name, FILES[name]())


@pytest.mark.parametrize("name", ["4GB.zip", "values.json"])  # not begun, and ended by its limit
def test_such_a_file_is_refused_at_every_door(name, doors):
    raw = FILES[name]()
    for door in doors:
        refuse(doors, door, name, raw)


def refuse(doors: Doors, door: str, name: str, raw: bytes) -> None:
    with bound_memory():
        told = doors[door](name, raw)
    assert name in told, (door, told[:500])
    assert any(why in told for why in WHY), (door, told[:500])


def test_a_request_of_many_small_values_is_refused(requester, token):
    body = json.dumps({"name": "x"}).replace('"x"', VALUES[: 15 * MB].decode() + "{}]")
    with bound_memory():
        reply = requester.post(
            "/api/pools",
            body,
            content_type="application/json",
            headers={"authorization": f"Bearer {token}"},
        )
    assert reply.status_code == 400
