"""What is known of a worker besides their name: texts, numbers, true or false, by name."""

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
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")  # no database keeps these


def read_attributes(value: Any) -> Attributes:
    """Return a worker's attributes as they are stored. Raises Refused for what is no flat object.

    Every way in (form, API, import) comes by here.
    """
    if not isinstance(value, dict):
        raise Refused(f"{SHAPE}.")
    for name, one in value.items():
        if not isinstance(name, str) or not _is_plain(one):
            raise Refused(f"{SHAPE}; the value of “{str(name)[:100]}” is something else.")
        if NO_TEXT.search(name) or (isinstance(one, str) and NO_TEXT.search(one)):
            raise Refused("There is a character in the attributes that cannot be read.")
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


class AttributesFormField(forms.JSONField):
    """An object as JSON; left empty it has no attributes."""

    default_error_messages = {"invalid": f"{SHAPE}."}

    def to_python(self, value: Any) -> Any:
        if value is None or (isinstance(value, str) and not value.strip()):
            return {}
        try:
            return read_attributes(super().to_python(value))
        except Refused as refusal:
            raise ValidationError(str(refusal), code="invalid") from refusal
        except (ValueError, RecursionError) as error:  # too many digits, or too deep
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What is refused is shown as it was typed."""
        try:
            return initial if self.disabled else self.to_python(data)
        except ValidationError:
            return InvalidJSONInput(data)


class AttributesField(models.JSONField):
    """A column of objects. Whatever else older rows have is read as no attributes."""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs  # the column is one of these

    def from_db_value(self, value: Any, *place: Any) -> Any:
        found = super().from_db_value(value, *place)
        return found if isinstance(found, dict) else {}

    def formfield(self, **options: Any) -> Any:
        return super().formfield(**{"form_class": AttributesFormField, **options})
