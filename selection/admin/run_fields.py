"""Fields of a run's form that are not columns: options, quotas, eligibility."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.html import format_html, format_html_join
from unfold.widgets import UnfoldAdminExpandableTextareaWidget, UnfoldAdminTextInputWidget

from selection import reports
from selection.admin import styled
from selection.admin.forms import LinesField
from selection.algorithms import MEANINGS
from selection.errors import Refused
from selection.models import Pool, Run
from selection.runs.roster import quotas
from selection.runs.settings import algorithm_choices
from selection.runs.settings.algorithm_choices import Setting
from selection.viewer_locale import format_figure

# -- a field for each option that any algorithm has


def setting_field(setting: Setting) -> forms.Field:
    """Make an option's field. Empty means the default, also a later version's better one."""
    option = setting.option
    arguments: dict[str, Any] = {
        "label": setting.label,
        "required": False,
        "help_text": _help_text(setting),
    }
    if option.kind == "flag":
        return styled.BooleanField(**arguments)
    if option.kind == "choice":
        choices = [(choice, choice.capitalize()) for choice in option.choices]
        return styled.ChoiceField(choices=choices, **arguments)
    default = "automatic" if option.default is None else format_figure(option.default, 4)
    attrs = {"placeholder": default}
    if option.kind == "integer":
        return styled.IntegerField(attrs=attrs, **arguments)
    return styled.FloatField(attrs=attrs, **arguments)


def _help_text(setting: Setting) -> str:
    users = format_html('<span class="cs-noscript"> Used by {}.</span>', ", ".join(setting.titles))
    meanings = format_html_join(
        "",
        "<br><strong>{}</strong>: {}.",
        [(choice.capitalize(), MEANINGS[choice]) for choice in _help_sentences(setting)],
    )
    return format_html("{}{}{}", setting.option.about, meanings, users)


def _help_sentences(setting: Setting) -> list[str]:
    return [choice for choice in setting.option.choices if choice in MEANINGS]


ALGORITHM_OPTIONS = {
    f"option_{setting.option.name}": setting for setting in algorithm_choices.list_settings()
}
OptionFields: Any = type(
    "OptionFields",
    (forms.Form,),
    {name: setting_field(setting) for name, setting in ALGORITHM_OPTIONS.items()},
)


def options_given(algorithm: str, cleaned: dict[str, Any]) -> dict[str, Any]:
    """Select the options that the algorithm reads and that differ from the default."""
    return {
        setting.option.name: cleaned[name]
        for name, setting in ALGORITHM_OPTIONS.items()
        if algorithm in setting.algorithms
        and cleaned.get(name) not in (None, "", setting.option.default)
    }


# -- quotas


class QuotaFields(forms.Form):
    quota_attribute = forms.CharField(
        label="Worker attribute",
        required=False,
        max_length=200,
        help_text="A column of the workers file, for example language.",
        widget=UnfoldAdminTextInputWidget(),
    )
    quota_lines = styled.TextField(
        label="Number per value",
        required=False,
        help_text="One value per line. English: 2-4 means 2 to 4; 2 means exactly 2, 2- at least "
        "2, -4 at most 4. Other values have no limit.",
        attrs={"rows": 4, "placeholder": "English: 2-4\nSpanish: 1-", "spellcheck": "false"},
    )

    def clean_quota_attribute(self) -> str:
        return str(self.cleaned_data["quota_attribute"]).strip()

    def clean_quota_lines(self) -> dict[str, Any]:
        try:
            return quotas.parse_quotas(self.cleaned_data["quota_lines"])
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal


def name_known_attributes(field: Any, pool: Pool | None) -> None:
    """Add the attributes of the pool's workers to the help text, with the number of each value."""
    for name, counts in (quotas.count_attribute_values(pool) if pool else {}).items():
        values = ", ".join(f"{value} ({count})" for value, count in counts.items())
        field.help_text = format_html(
            "{}<br><strong>{}</strong>: {}", field.help_text, name, values
        )


def quotas_given(cleaned: dict[str, Any]) -> dict[str, Any]:
    attribute, limits = cleaned.get("quota_attribute"), cleaned.get("quota_lines")
    return {"attribute": attribute or "", "limits": limits} if attribute or limits else {}


# -- eligibility: lists of ids, an earlier selection


LATEST = 100


def _list_field(label: str, about: str) -> LinesField:
    widget = UnfoldAdminExpandableTextareaWidget(attrs={"rows": 3, "spellcheck": "false"})
    return LinesField(label=label, required=False, help_text=about, widget=widget)


ELIGIBILITY = ("only", "left_out")


class EligibilityFields(forms.Form):
    only_from = styled.ChoiceField(
        label="Only workers selected in",
        required=False,
        help_text="Fills the list below with the workers selected in that run.",
    )
    only = _list_field("Only these workers", "One id per line. Leave blank for the whole pool.")
    left_out = _list_field("Excluded workers", "One id per line.")


def selected_choices(runs: QuerySet[Run]) -> list[Any]:
    started = runs.exclude(status=Run.Status.DRAFT).order_by("-id").values_list("pk", "name")
    return [("", "— any run —"), *started[:LATEST]]


def selected_workers(run: Run) -> list[str]:
    return [line.worker for line in reports.run_standings(run).lines if line.selected]
