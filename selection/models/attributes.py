"""A worker's attributes besides their name: texts, numbers, true or false, by name."""

import math
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput

from selection.errors import Refused

Attributes = dict[str, str | int | float | bool]

SHAPE = (
    "Attributes are a JSON object that gives each name a text, a number, true or false, as in "
    '{"language": "English", "age": 30}'
)
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")  # databases cannot store these


def read_attributes(value: Any) -> Attributes:
    """Check a worker's attributes as stored. Raises Refused if they are not a flat object.

    Form, API and import all validate attributes by this function.
    """
    if not isinstance(value, dict):
        raise Refused(f"{SHAPE}.")
    for name, item in value.items():
        if not isinstance(name, str) or not _is_plain(item):
            raise Refused(f"{SHAPE}; the value of “{str(name)[:100]}” is something else.")
        if NO_TEXT.search(name) or (isinstance(item, str) and NO_TEXT.search(item)):
            raise Refused("There is a character in the attributes that cannot be read.")
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


class AttributesFormField(forms.JSONField):
    """A form field for an object as JSON; empty for no attributes."""

    default_error_messages = {"invalid": f"{SHAPE}."}

    def to_python(self, value: Any) -> Any:
        if value is None or (isinstance(value, str) and not value.strip()):
            return {}
        try:
            return read_attributes(super().to_python(value))
        except Refused as refusal:
            raise ValidationError(str(refusal), code="invalid") from refusal
        except (ValueError, RecursionError) as error:  # too many digits, or nested too deeply
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Keep invalid data as it was typed."""
        try:
            return initial if self.disabled else self.to_python(data)
        except ValidationError:
            return InvalidJSONInput(data)


class AttributesField(models.JSONField):
    """A column of objects."""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs  # migrations know the plain column

    def formfield(self, **options: Any) -> Any:
        return super().formfield(**{"form_class": AttributesFormField, **options})
