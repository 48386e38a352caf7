"""Taking somebody's name out of chained entries, so that the chain still shows any other change.

The digest that an entry was chained with stays, and so do those after it. The entry gets other
values and another salt, so that nobody can try out which values the old digest was of; and a
further entry, chained like every other, says which were replaced and what each is now.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from selection.models import AuditEntry
from selection.models.audit import salt

from .chain import REPLACED, replaced_digest, seal

AT_ONCE = 500

# What an entry's fields are to be; empty where it stays.
Change = Callable[[AuditEntry], dict[str, Any]]


@transaction.atomic
def replace(entries: Iterable[AuditEntry], change: Change, who: str, why: str) -> int:
    """Give entries other values; returns how many were changed.

    The record of it names no team and nobody but ``who``, as it is about the log itself.
    """
    found = [(entry, new) for entry in entries if (new := change(entry))]
    for start in range(0, len(found), AT_ONCE):
        _some(found[start : start + AT_ONCE], who, why)
    return len(found)


def _some(found: list[tuple[AuditEntry, dict[str, Any]]], who: str, why: str) -> None:
    digests = {str(entry.pk): _one(entry, new) for entry, new in found}
    AuditEntry.objects.create(
        at=timezone.now(),
        who=who,
        kind=REPLACED,
        model="auditentry",
        name=f"{len(digests)} entries of the audit log",
        after={"entries": digests},
        why=why,
    )
    transaction.on_commit(lambda: seal(), robust=True)


def _one(entry: AuditEntry, new: dict[str, Any]) -> str:
    values = new | {"salt": salt()}
    for name, value in values.items():
        setattr(entry, name, value)
    rows: QuerySet[AuditEntry] = QuerySet(AuditEntry).filter(pk=entry.pk)
    rows.update(**values)
    return replaced_digest(entry)
