"""Columns for the id of a worker or question, and for the name of anything."""

from typing import TYPE_CHECKING, Any

from django.db import models

from selection.grading.keys import plain_key
from selection.outside_text import clean_line

if TYPE_CHECKING:
    TextField = models.CharField[str, str]
else:
    TextField = models.CharField


class KeyField(TextField):
    """An id: however it is written, it is stored and looked up in one form."""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs  # migrations know the plain column

    def to_python(self, value: Any) -> Any:
        key = super().to_python(value)
        return key and plain_key(key)


class NameField(KeyField):
    """A name: one line without control characters, whichever door it comes by."""

    def to_python(self, value: Any) -> Any:
        return self.get_prep_value(value)

    def get_prep_value(self, value: Any) -> Any:
        return clean_line(value) if isinstance(value, str) else value
