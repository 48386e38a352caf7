"""A run's dump as text. The answers wait on the disk, so that little is held in memory."""

import json
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from typing import IO, Any

from django.db import transaction

from selection.models import Run
from topk.verify import canonical_json

from .dump import dump_candidates, dump_frame

CHARACTERS = 65_536


def dump_text(run: Run, anonymous: bool = False) -> Iterator[str]:
    """Write the text that ``json.dumps`` would make of ``dump_run``, with the same arguments."""
    file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed when it is read)
    with transaction.atomic():
        locked = Run.objects.locked(run.pk) or run  # one snapshot: steps wait, answers do not
        document = dump_frame(locked, anonymous)
        digest = _write_digest(document, dump_candidates(locked, anonymous), file)
    file.seek(0)
    return _json_pieces(document | {"digest": digest}, file)


def _write_digest(document: dict[str, Any], people: Iterator[Any], file: IO[str]) -> str:
    """Compute the digest as ``topk.verify.digest_of``, and write the candidates to the file."""
    digest = sha256()
    for number, name in enumerate(sorted(document)):
        digest.update(f"{',' if number else '{'}{canonical_json(name)}:".encode())
        if name != "candidates":
            digest.update(canonical_json(document[name]).encode())
            continue
        digest.update(b"[")
        for place, candidate in enumerate(people):
            digest.update(f"{',' if place else ''}{canonical_json(candidate)}".encode())
            file.write(f"{', ' if place else ''}{_encode_json(candidate)}")
        digest.update(b"]")
    digest.update(b"}")
    return digest.hexdigest()


def _json_pieces(document: dict[str, Any], file: IO[str]) -> Iterator[str]:
    with file:
        for number, (name, value) in enumerate(document.items()):
            yield f"{', ' if number else '{'}{_encode_json(name)}: "
            if name != "candidates":
                yield _encode_json(value)
                continue
            yield "["
            while piece := file.read(CHARACTERS):
                yield piece
            yield "]"
    yield "}"


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
