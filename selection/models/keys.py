"""A column for the id of a worker or question."""

from typing import TYPE_CHECKING, Any

from django.db import models

from selection.grading.keys import plain_key

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
