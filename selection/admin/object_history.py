"""An object's entries in the audit log, for its page *History*."""

from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from selection.accounts import team_of
from selection.models import AuditEntry

SHOWN = 200
SHOWN_ON_CARD = 5
LONGEST_VALUE = 60
FIELDS_UNFOLDED = 6  # lines; more are folded away
NOTHING = "–"
# Fields of a new object that its page or the entry itself shows.
HIDDEN = {"team_id", "created"}


def object_history(item: Model, limit: int = SHOWN) -> dict[str, Any]:
    """Build a template's context: the latest entries, newest first; ``more`` if there are others.

    Limited to entries of the object's team, so that a reader of the object may see them all.
    """
    name, app = item._meta.model_name or "", item._meta.app_label
    entries = AuditEntry.objects.filter(model=name, item=str(item.pk))
    if app == AuditEntry._meta.app_label:
        team = team_of(item)
        entries = entries.filter(team=None) if team is None else entries.filter(team_id=team)
    rows = list(entries[: limit + 1])
    return {
        "entries": [(entry, describe_changes(entry)) for entry in rows[:limit]],
        "more": len(rows) > limit,
    }


def short_history(item: Model) -> dict[str, Any]:
    """Build the same for the card on the object's own page, with the address of all entries."""
    meta = item._meta
    page = reverse(f"admin:{meta.app_label}_{meta.model_name}_history", args=[item.pk])
    return {**object_history(item, SHOWN_ON_CARD), "all": page}


def describe_changes(entry: AuditEntry) -> SafeString:
    """Render before and after as HTML, one field per line; long values and long lists are cut.

    A new object has no "before". Fields that were and are empty are left out.
    """
    names = [*entry.after, *(name for name in entry.before if name not in entry.after)]
    visible = [name for name in names if entry.before or name not in HIDDEN]
    lines = [
        (_field_label(entry, name), line) for name in visible if (line := _change_line(entry, name))
    ]
    first, rest = _change_lines(lines[:FIELDS_UNFOLDED]), lines[FIELDS_UNFOLDED:]
    if not rest:
        return first
    template = "{}<details><summary>{} more</summary>{}</details>"
    return format_html(template, first, len(rest), _change_lines(rest))


def _change_lines(lines: list[tuple[str, str]]) -> SafeString:
    return format_html_join("", "<div>{}: {}</div>", lines)


def _field_label(entry: AuditEntry, name: str) -> str:
    try:
        field = apps.get_model(AuditEntry._meta.app_label, entry.model)._meta.get_field(name)
    except (LookupError, FieldDoesNotExist):
        return name
    return str(getattr(field, "verbose_name", name))


def _change_line(entry: AuditEntry, name: str) -> str:
    before, after = _value_text(entry.before, name), _value_text(entry.after, name)
    if before == after == NOTHING:
        return ""
    return after if name not in entry.before else f"{before} → {after}"


def _value_text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    text = NOTHING if value in (None, "", [], {}) else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
