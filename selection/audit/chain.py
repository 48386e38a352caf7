"""The chain: each entry's digest is over the one before it, so that a change or a gap shows.

An entry is written in one transaction with what it tells of; it is sealed a moment after that is
committed, in a short one of its own. So no two changes wait for each other, and the chain's order
is that of the sealing.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from selection.models import AuditEntry

FIELDS = (
    "at",
    "who",
    "address",
    "team_id",
    "kind",
    "model",
    "item",
    "name",
    "before",
    "after",
    "why",
)
AT_ONCE = 1000
REPLACED = "replaced"
SEALED_WITHIN = timedelta(minutes=5)


def seal() -> int:
    """Chain what is not chained yet; returns how many. Of two who do it at once one gives way."""
    try:
        with transaction.atomic():
            return _seal()
    except IntegrityError:
        return 0  # the other's number is taken: what is left is sealed by the next, or the sweep


def _seal() -> int:
    last = AuditEntry.objects.exclude(number=None).order_by("-number").first()
    number, digest = (last.number or 0, last.digest) if last else (0, "")
    waiting = AuditEntry.objects.filter(number=None).order_by("id")[:AT_ONCE]
    for entry in (found := list(waiting)):
        number, digest = number + 1, digest_of(entry, number + 1, digest)
        rows: QuerySet[AuditEntry] = QuerySet(AuditEntry).filter(pk=entry.pk, number=None)
        if not rows.update(number=number, digest=digest):
            raise IntegrityError  # sealed by another in this moment
    return len(found)


def digest_of(entry: AuditEntry, number: int, before: str) -> str:
    told = [before, number, *(getattr(entry, field) for field in FIELDS)]
    told += [entry.salt] if entry.salt else []
    text = json.dumps(told, cls=_Exact, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def replaced_digest(entry: AuditEntry) -> str:
    """Of what took an entry's place: see ``replacing``."""
    return digest_of(entry, entry.pk, REPLACED)


def _replaced() -> dict[int, str]:
    """By the entry's id, the digest of what took its place, by the latest word."""
    records = AuditEntry.objects.filter(kind=REPLACED, model="auditentry").order_by("id")
    return {int(pk): digest for one in records for pk, digest in one.after["entries"].items()}


class _Exact(DjangoJSONEncoder):
    """Times to the microsecond, as they are stored."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if hasattr(o, "isoformat") else super().default(o)


def verify(known: str = "") -> tuple[int, str, list[str]]:
    """How many entries are chained, the last digest, and what is wrong with the chain.

    known  a digest that was noted earlier: it must still be there, else the end was cut off
    """
    number, digest, wrong, seen = 0, "", [], not known
    replaced = _replaced()
    for entry in AuditEntry.objects.exclude(number=None).order_by("number").iterator():
        number += 1
        if entry.number != number:
            wrong.append(f"Entries {number} to {(entry.number or 0) - 1} are missing.")
            number = entry.number or 0
        elif entry.digest != digest_of(entry, number, digest) and (
            replaced.get(entry.pk) != replaced_digest(entry)
        ):
            wrong.append(f"Entry {number} ({entry}) is not what was written, or the one before.")
        digest = entry.digest
        seen = seen or digest == known
    if not seen:
        wrong.append("The digest that was noted is not in the chain: its end was cut off.")
    late = AuditEntry.objects.filter(number=None, at__lt=timezone.now() - SEALED_WITHIN).count()
    if late:
        wrong.append(f"{late} entries wait to be chained for more than five minutes.")
    return number, digest, wrong


def lines(entries: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    """Each entry as what may be exported, oldest first."""
    for entry in entries.order_by("id").iterator():
        told = {field: getattr(entry, field) for field in ("number", *FIELDS, "digest", "salt")}
        told["at"] = entry.at.isoformat()
        yield told
