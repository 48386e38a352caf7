"""Form fields with the widgets of the admin's layout."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold import widgets


class _Styled:
    """Field with a widget of its class; ``attrs`` are further attributes of the element."""

    widget: Any

    def __init__(self, *args: Any, attrs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, widget=self.widget(attrs), **kwargs)  # type: ignore[call-arg]


class CharField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminTextInputWidget


class TextField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminTextareaWidget


class PasswordField(_Styled, forms.CharField):
    widget = widgets.UnfoldAdminPasswordWidget


class IntegerField(_Styled, forms.IntegerField):
    widget = widgets.UnfoldAdminIntegerFieldWidget


class FloatField(_Styled, forms.FloatField):
    widget = widgets.UnfoldAdminDecimalFieldWidget


class DecimalField(_Styled, forms.DecimalField):
    widget = widgets.UnfoldAdminDecimalFieldWidget


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
