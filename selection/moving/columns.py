"""What a dump says, as fields take it."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Field, Model


def of(model: type[Model], said: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """These fields' values. Raises KeyError for one that is missing, ValidationError for one that
    no such field has."""
    return {name: value_of(model, name, said[name]) for name in names}


def value_of(model: type[Model], name: str, value: Any) -> Any:
    field = model._meta.get_field(name)
    assert isinstance(field, Field)
    if value is None:
        return None
    found = field.to_python(value)
    if not field.choices:
        field.run_validators(found)
    elif found not in ("", *dict(field.flatchoices)):
        raise ValueError(f"{name} is {value!r}, which is none of those that there are")
    return found
