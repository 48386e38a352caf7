"""Schemas' fields for the settings of a run, from their declarations and columns."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import (
    NOT_PROVIDED,
    BooleanField,
    CharField,
    DateTimeField,
    DecimalField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
)
from ninja import Field as SchemaField
from ninja import Schema

from selection.algorithms import ALGORITHMS
from selection.api.fields import MOST, Id, Key, Yes, price_field
from selection.limits import MOST_IMPORTED
from selection.runs.settings.run_settings import CHANGEABLE, RUN_SETTINGS, RunSetting

TYPES: dict[type["Field[Any, Any]"], Any] = {
    ForeignKey: int,
    IntegerField: int,
    FloatField: float,
    DecimalField: Decimal,
    BooleanField: Yes,
    DateTimeField: datetime,
    CharField: str,
    JSONField: list[str],
}
# What no column says, by name.
INPUT_TYPES: dict[str, Any] = {"name": Key, "pool": Id, "question_set": Id}
MORE: dict[str, dict[str, Any]] = {
    "name": {"examples": ["Best 3 of spring"]},
    "k": {"examples": [3]},
    "algorithm": {"json_schema_extra": {"enum": list(ALGORITHMS)}},
    "currency": {"examples": ["€"]},
}


class StrictSchema(Schema, extra="forbid"):
    """A body in which unknown names are refused, to catch misspelt ones."""


def input_fields() -> dict[str, Any]:
    return {setting.name: _input_field(setting) for setting in RUN_SETTINGS}


def change_fields() -> dict[str, Any]:
    """List the settings that may change after the start; ``runs.changes`` checks the values."""
    return {
        name: (_type_of(setting) | None, _build_field(setting, None))
        for name, setting in CHANGEABLE.items()
    }


def output_fields(settings: Iterable[RunSetting]) -> dict[str, Any]:
    return {
        setting.name: (_stored_type(setting), SchemaField(description=_description(setting)))
        for setting in settings
    }


def _type_of(setting: RunSetting) -> Any:
    return next(of for kind, of in TYPES.items() if isinstance(setting.column, kind))


def _stored_type(setting: RunSetting) -> Any:
    plain = {Decimal: float, Yes: bool}.get(_type_of(setting), _type_of(setting))
    return plain | None if setting.column.null else plain


def _input_field(setting: RunSetting) -> tuple[Any, Any]:
    column, default = setting.column, setting.default
    kind = INPUT_TYPES.get(setting.name, _type_of(setting))
    if isinstance(column, CharField) and column.choices and setting.name != "algorithm":
        kind = Literal[tuple(value for value, _ in column.flatchoices)]
    if isinstance(column, JSONField):
        return list[Key], _build_field(setting, [], max_length=MOST_IMPORTED)
    if setting.worked_out:
        default = None
    if column.null or setting.worked_out:
        kind, default = kind | None, None if default is NOT_PROVIDED else default
    required = ... if default is NOT_PROVIDED else default
    return kind, _build_field(setting, required, **_limits(setting), **MORE.get(setting.name, {}))


def _build_field(setting: RunSetting, default: Any, **more: Any) -> Any:
    if isinstance(setting.column, DecimalField):
        return price_field(_description(setting))
    return SchemaField(default, description=_description(setting), **more)


def _limits(setting: RunSetting) -> dict[str, float]:
    column = setting.column
    limits: dict[str, float] = {}
    if isinstance(column, IntegerField):  # all of them are positive
        limits = {"ge": 0, "le": MOST}
    if isinstance(column, CharField) and not column.choices and setting.name != "name":
        limits = {"max_length": column.max_length or 0}
    for validator in setting.validators:
        if isinstance(validator, MinValueValidator):
            limits["ge"] = validator.limit_value
        if isinstance(validator, MaxValueValidator):
            limits["le"] = validator.limit_value
    return limits | dict(setting.bounds)


def _description(setting: RunSetting) -> str:
    text = setting.description.replace("Empty:", "null:")
    choices = setting.column.choices if isinstance(setting.column, CharField) else None
    if choices and setting.name != "algorithm":
        text += " " + "; ".join(f"{value or 'empty'}: {words}" for value, words in choices) + "."
    return f"{text} null: {setting.worked_out}.".strip() if setting.worked_out else text
