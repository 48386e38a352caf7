"""Fields of a run's form that decide on eligibility: lists of ids, an earlier selection."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from unfold.widgets import UnfoldAdminExpandableTextareaWidget, UnfoldAdminSelectWidget

from selection.admin.forms import LinesField
from selection.models import Run

LATEST = 100


def _list_field(label: str, about: str) -> LinesField:
    widget = UnfoldAdminExpandableTextareaWidget(attrs={"rows": 3, "spellcheck": "false"})
    return LinesField(label=label, required=False, help_text=about, widget=widget)


class EligibilityFields(forms.Form):
    only_from = forms.ChoiceField(
        label="Only who was selected in",
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text="Whoever that run names as selected by now is put into the list below.",
    )
    only = _list_field(
        "Only these workers", "Their ids, one to a line. Empty: everybody in the pool."
    )
    left_out = _list_field("Workers to leave out", "Their ids, one to a line.")


def selected_choices(runs: QuerySet[Run]) -> list[Any]:
    """Return the choices of runs that have started, the latest first."""
    started = runs.exclude(status=Run.Status.DRAFT).order_by("-id").values_list("pk", "name")
    return [("", "Nobody in particular"), *started[:LATEST]]
