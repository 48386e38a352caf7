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
        label="Only workers selected in",
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text="Fills the list below with the workers selected in that run.",
    )
    only = _list_field("Only these workers", "One id per line. Leave blank for the whole pool.")
    left_out = _list_field("Excluded workers", "One id per line.")


def selected_choices(runs: QuerySet[Run]) -> list[Any]:
    started = runs.exclude(status=Run.Status.DRAFT).order_by("-id").values_list("pk", "name")
    return [("", "— any run —"), *started[:LATEST]]
