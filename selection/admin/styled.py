"""Form fields with the widgets of the admin's layout, and numbers in the viewer's locale."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from unfold import widgets

from selection.grading.numbers import parse_typed, parse_whole
from selection.viewer_locale import format_plain


class _Styled:
    """Field with a widget of its class; ``attrs`` are further attributes of the element."""

    widget: Any

    def __init__(self, *args: Any, attrs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("widget", self.widget(attrs))
        super().__init__(*args, **kwargs)


class CharField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminTextInputWidget


class TextField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminTextareaWidget


class PasswordField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminPasswordWidget


class NumberInput(widgets.UnfoldAdminTextInputWidget):
    """Input of a number with a decimal mark: in one of the type number, browsers drop a comma."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"inputmode": "decimal", **(attrs or {})})


class _TypedNumber:
    """Field of a number, typed and shown with the viewer's decimal mark."""

    parse = staticmethod(parse_typed)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            try:
                value = str(self.parse(value))
            except ValueError as error:
                raise ValidationError(str(error), code="invalid") from error
        return super().to_python(value)  # type: ignore[misc]

    def prepare_value(self, value: Any) -> Any:
        return format_plain(value) if isinstance(value, float | Decimal) else value


class IntegerField(_Styled, _TypedNumber, forms.IntegerField):
    widget = NumberInput
    parse = staticmethod(parse_whole)


class FloatField(_Styled, _TypedNumber, forms.FloatField):
    widget = NumberInput


class DecimalField(_Styled, _TypedNumber, forms.DecimalField):
    widget = NumberInput


# For fields that a model makes.
FORMFIELDS: dict[type["models.Field[Any, Any]"], dict[str, Any]] = {
    models.IntegerField: {"form_class": IntegerField, "widget": NumberInput},
    models.BigIntegerField: {"form_class": IntegerField, "widget": NumberInput},
    models.FloatField: {"form_class": FloatField, "widget": NumberInput},
    models.DecimalField: {"form_class": DecimalField, "widget": NumberInput},
}


class ChoiceField(_Styled, forms.ChoiceField):
    widget = widgets.UnfoldAdminSelectWidget


class ModelChoiceField(_Styled, forms.ModelChoiceField):
    widget = widgets.UnfoldAdminSelectWidget


class BooleanField(_Styled, forms.BooleanField):
    widget = widgets.UnfoldBooleanSwitchWidget


class JSONField(forms.JSONField):
    """JSON; a number too long to be read, or too many brackets, is refused as other errors are."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError) as error:
            message = self.error_messages["invalid"]
            raise ValidationError(message, code="invalid", params={"value": value}) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except (ValueError, RecursionError):
            return forms.fields.InvalidJSONInput(data)
