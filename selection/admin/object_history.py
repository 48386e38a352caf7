"""What was done to an object, as its page *History* shows it."""

from typing import Any

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


def object_history(item: Model, most: int = SHOWN) -> dict[str, Any]:
    """For the template: the latest entries, newest first, and whether there are more.

    Only those of its team: who sees the object sees these.
    """
    name, app = item._meta.model_name or "", item._meta.app_label
    entries = AuditEntry.objects.filter(model=name, item=str(item.pk))
    if app == AuditEntry._meta.app_label:
        team = team_of(item)
        entries = entries.filter(team=None) if team is None else entries.filter(team_id=team)
    found = list(entries[: most + 1])
    return {
        "entries": [(entry, describe_changes(entry)) for entry in found[:most]],
        "more": len(found) > most,
    }


def short_history(item: Model) -> dict[str, Any]:
    """The same for a card on the object's own page."""
    meta = item._meta
    page = reverse(f"admin:{meta.app_label}_{meta.model_name}_history", args=[item.pk])
    return {**object_history(item, SHOWN_ON_CARD), "all": page}


def describe_changes(entry: AuditEntry) -> SafeString:
    """Before and after, a field to a line; of what is long, how it begins, and of many the first.

    Of what was new there is no before, and a field that was and is empty says nothing.
    """
    names = [*entry.after, *(name for name in entry.before if name not in entry.after)]
    told = [(name, said) for name in names if (said := _change_line(entry, name))]
    shown, more = _change_lines(told[:FIELDS_UNFOLDED]), told[FIELDS_UNFOLDED:]
    if not more:
        return shown
    folded = "{}<details><summary>{} more</summary>{}</details>"
    return format_html(folded, shown, len(more), _change_lines(more))


def _change_lines(told: list[tuple[str, str]]) -> SafeString:
    return format_html_join("", "<div>{}: {}</div>", told)


def _change_line(entry: AuditEntry, name: str) -> str:
    before, after = _value_text(entry.before, name), _value_text(entry.after, name)
    if before == after == NOTHING:
        return ""
    return after if name not in entry.before else f"{before} → {after}"


def _value_text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    text = NOTHING if value in (None, "", [], {}) else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
