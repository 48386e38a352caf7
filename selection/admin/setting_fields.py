"""Form fields and sections of a run's settings, from their declarations and columns."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db import models
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from selection.admin.styled import FORMFIELDS
from selection.runs.settings.run_settings import RUN_SETTINGS, RunSetting

WIDGETS: dict[type["models.Field[Any, Any]"], forms.Widget] = {
    models.BooleanField: UnfoldBooleanSwitchWidget(),
    models.DateTimeField: UnfoldAdminTextInputWidget({"placeholder": "2026-12-31 18:00"}),
    models.CharField: UnfoldAdminTextInputWidget(),
}
# The admin capitalises the names of columns.
LABELS = {setting.name: setting.label for setting in RUN_SETTINGS if setting.label}


def build_field(column: "models.Field[Any, Any]", **kwargs: Any) -> forms.Field | None:
    if column.choices:
        return column.formfield(**{"widget": UnfoldAdminSelectWidget(), **kwargs})
    widgets = {kind: {"widget": widget} for kind, widget in WIDGETS.items()} | FORMFIELDS
    way = next(way for kind, way in widgets.items() if isinstance(column, kind))
    return column.formfield(**{**way, **kwargs})


def build_form_fields(settings: Iterable[RunSetting]) -> Any:
    fields = {setting.name: _optional_field(setting) for setting in settings}
    return type("SettingFields", (forms.Form,), fields)


def _optional_field(setting: RunSetting) -> forms.Field | None:
    """Make the field with the column's limits: no model checks them here."""
    label = {"label": setting.label} if setting.label else {}
    field = build_field(setting.column, required=False, **label)
    if field is not None:
        field.validators = [*field.validators, *setting.validators]
    return field
