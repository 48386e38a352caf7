"""Form fields that connectors declare: settings and secrets."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from selection.admin import styled
from selection.connectors.connector import Secret, Setting

SETTING, SECRET = "setting_", "secret_"  # beginnings of the fields' names
HIDDEN = "It is stored encrypted and never shown."
KEEP = f"{HIDDEN} Leave it blank to keep the stored one."


def setting_fields(
    declared: Iterable[Setting], values: Mapping[str, Any]
) -> dict[str, forms.Field]:
    return {
        f"{SETTING}{one.name}": _setting_field(one, values.get(one.name, one.default))
        for one in declared
    }


def _setting_field(setting: Setting, value: Any) -> forms.Field:
    options: dict[str, Any] = {
        "label": setting.label,
        "help_text": setting.help,
        "initial": value,
        "required": setting.required and setting.kind != "yes",
    }
    if setting.kind == "yes":
        return styled.BooleanField(**options)
    if setting.kind == "number":
        return styled.IntegerField(**options)
    if setting.kind == "choice":
        choices = list(setting.choices)
        return styled.ChoiceField(choices=choices, **options)
    return styled.CharField(max_length=500, **options)


def secret_fields(declared: Iterable[Secret], stored: bool) -> dict[str, forms.Field]:
    """Make a field for each secret; it never has a value.

    stored  True if there are secrets already, which blank fields keep
    """
    return {
        f"{SECRET}{one.name}": styled.PasswordField(
            label=one.label.capitalize(),
            required=one.required and not stored,
            help_text=f"{one.help} {KEEP if stored else HIDDEN}".strip(),
            attrs={"autocomplete": "off"},
        )
        for one in declared
    }


def values_of(cleaned: Mapping[str, Any], beginning: str) -> dict[str, Any]:
    """Pick the values of the fields whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(beginning): value
        for name, value in cleaned.items()
        if name.startswith(beginning)
    }
