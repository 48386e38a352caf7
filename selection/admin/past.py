"""What was done to an object, as its page *History* shows it."""

from typing import Any

from django.db.models import Model
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from selection.models import AuditEntry

SHOWN = 200
LONGEST = 60


def of(item: Model) -> dict[str, Any]:
    """For the template: the latest entries, newest first, and whether there are more."""
    name = item._meta.model_name or ""
    found = list(AuditEntry.objects.filter(model=name, item=str(item.pk))[: SHOWN + 1])
    return {
        "entries": [(entry, changes(entry)) for entry in found[:SHOWN]],
        "more": len(found) > SHOWN,
    }


def changes(entry: AuditEntry) -> SafeString:
    """Before and after, a field to a line; of what is long, how it begins."""
    names = [*entry.after, *(name for name in entry.before if name not in entry.after)]
    told = [(name, _said(entry.before, name), _said(entry.after, name)) for name in names]
    return format_html_join("", "<div>{}: {} → {}</div>", told)


def _said(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    text = "–" if value in (None, "", [], {}) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
