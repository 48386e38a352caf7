"""Readers against broken files: each is read or refused, without another error."""

import json
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.errors import Refused
from selection.imports import platforms, row_parsers
from selection.imports.readers import ENCODINGS, read_table

from .files import GERMAN, workbook

PATIENCE = 20  # seconds for a task of milliseconds: more is without end

LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"text": "A bird?"},
        "annotations": [
            {
                "completed_by": {"id": 3, "email": "a@b.c"},
                "result": [{"value": {"choices": ["yes"]}}],
                "ground_truth": True,
            }
        ],
    }
]
SEEDS = {
    "csv": b"worker,task,label\nw1,t1,yes\nw2,t1,no\n",
    "german": "Kennung;Name\nA1;J\xf6rg\nA2;\xc4nne\n".encode("cp1252"),
    "utf-16": "worker\tname\nA1\tÄnne\n".encode("utf-16"),
    "quoted": b'question,prompt,answer\nq1,"Is it, or ""not""?",yes\n',
    "json": json.dumps(LABEL_STUDIO).encode(),
    "lines": b'{"worker": "a", "question": "q", "response": 1.5}\n{"worker": null}\n',
    "xlsx": workbook(GERMAN),
    "list": b"5f2a0c1e9b3d4a0012345678\n5f2a0c1e9b3d4a0012345679\n",
}
# Characters that tend to hurt.
BITS = [b"\0", b'"', b"\n", b"\r", b"=", b"\xff\xfe", b"\xef\xbb\xbf", b"{", b"[", b"\xed\xa0\x80"]
BITS += [b"PK\x03\x04", b"\x1f", b",,,,", b"<", b"&#0;", "\u202e".encode(), b"\x80", b"9" * 40]


@contextmanager
def in_time() -> Iterator[None]:
    """Fail an endless read instead of waiting for it."""

    def over(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(raw: bytes | str, encoding: str = "") -> None:
    """Read it as each kind of file there is, as pages and commands do."""
    for kind in platforms.ABOUT:
        try:
            table = read_table(raw, "f", encoding)
            plan = platforms.recognise_columns(kind, table.header)
            platforms.refuse_missing(plan, table.header, "f")
            for _ in islice(row_parsers.parse_rows(table, plan), 1000):
                pass
        except Refused:
            pass


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """With a few bytes changed, cut, doubled, moved or put in."""
    made = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        at, end = sorted(rng.randint(0, len(made)) for _ in range(2))
        way = rng.randrange(6)
        if way == 0 and made:
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
        elif way == 1:
            made[at:at] = rng.choice(BITS)
        elif way == 2:
            del made[at : min(end, at + 40)]
        elif way == 3:
            made[at:at] = made[at:end][:60]
        elif way == 4:
            made = made[:end] if rng.random() < 0.3 else made
        else:
            made[at:at] = rng.choice(list(SEEDS.values()))[:30]
    return bytes(made)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_files_with_changed_bytes_are_read_or_refused(seed, sample):
    rng = random.Random(seed)
    workbook = seed == "xlsx"  # each begins a process
    for _ in range(sample(10, 200) if workbook else sample(150, 3000)):
        raw = mutated(SEEDS[seed], rng)
        with in_time():
            attempt(raw)


@given(st.binary(max_size=300))
def test_random_bytes_are_read_or_refused(raw):
    attempt(raw)


@given(st.text(st.characters(), max_size=200), st.sampled_from(sorted(ENCODINGS)))
def test_random_text_in_an_encoding_is_read_or_refused(text, encoding):
    attempt(text)
    attempt(text.encode("utf-8", "replace"), encoding)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(["annotations", "data", "completed_by", "result", "value", "choices", "id"])


@pytest.mark.slow
@given(st.lists(st.dictionaries(NAMES, VALUES | st.lists(st.dictionaries(NAMES, VALUES)))))
def test_random_json_is_read_or_refused(objects):
    attempt(json.dumps(objects))


PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]))


@pytest.mark.slow
@given(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=5))
def test_excel_file_reads_back_as_written(rows):
    """Texts that Excel takes, with any beginning: nothing in them is a formula."""
    told = [["a" + one, "b" + two] for one, two in rows]
    table = read_table(workbook([["worker", "name"], *told]), "f")
    assert [cells for _, cells in table.rows] == told
