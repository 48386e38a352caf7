"""List entries of the audit log for a file."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

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


def list_entries(entries: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    for row in entries.order_by("id").values(*FIELDS).iterator():
        yield row | {"at": row["at"].isoformat()}
