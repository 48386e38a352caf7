"""Form fields with the widgets of the admin's layout."""

from typing import Any

from django import forms
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
