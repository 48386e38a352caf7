"""A run's dump as text, of which little is held at once: the answers wait on the disk."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import IO, Any

from django.db import transaction

from selection.models import Run
from topk.verify import canonical_json

from .dump import dump_candidates, dump_frame

CHARACTERS = 65_536


@dataclass(frozen=True)
class DumpText:
    """pieces: of the document, to be read once."""

    name: str
    digest: str
    pieces: Iterator[str]


def dump_text(run: Run, anonymous: bool = False, media: bool = False) -> DumpText:
    """What ``json.dumps`` makes of ``dump``, which see."""
    file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed when it is read)
    with transaction.atomic():
        held = Run.objects.locked(run.pk) or run  # of one moment: steps wait, answers do not
        document = dump_frame(held, anonymous, media)
        digest = _write_digest(document, dump_candidates(held, anonymous), file)
    file.seek(0)
    return DumpText(run.name, digest, _json_pieces(document | {"digest": digest}, file))


def _write_digest(document: dict[str, Any], people: Iterator[Any], file: IO[str]) -> str:
    """As ``topk.verify.digest_of`` makes it, names in order. Candidates go to the file besides."""
    seen = sha256()
    for number, name in enumerate(sorted(document)):
        seen.update(f"{',' if number else '{'}{canonical_json(name)}:".encode())
        if name != "candidates":
            seen.update(canonical_json(document[name]).encode())
            continue
        seen.update(b"[")
        for place, each in enumerate(people):
            seen.update(f"{',' if place else ''}{canonical_json(each)}".encode())
            file.write(f"{', ' if place else ''}{_to_json(each)}")
        seen.update(b"]")
    seen.update(b"}")
    return seen.hexdigest()


def _json_pieces(document: dict[str, Any], file: IO[str]) -> Iterator[str]:
    with file:
        for number, (name, value) in enumerate(document.items()):
            yield f"{', ' if number else '{'}{_to_json(name)}: "
            if name != "candidates":
                yield _to_json(value)
                continue
            yield "["
            while piece := file.read(CHARACTERS):
                yield piece
            yield "]"
    yield "}"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
