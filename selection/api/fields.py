"""Field types shared by several endpoints."""

from collections.abc import Callable
from types import new_class
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_type_hints

from django.db.models import QuerySet
from ninja import Field, File, Schema
from ninja.files import UploadedFile
from pydantic import AwareDatetime, BeforeValidator, model_validator

from selection.limits import LONGEST_KEY, LONGEST_WHY

from .pagination import Page

MOST = 2**31 - 1  # of an integer column

Id = Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]


def _refuse_others(value: Any) -> Any:
    """Refuse true and "5", which would become numbers; 5.0 is a whole number in JSON."""
    if isinstance(value, bool | str):
        raise ValueError("must be a whole number")
    return value


# It comes after the limits, or they are missing in the OpenAPI document.
WHOLE = BeforeValidator(_refuse_others)
Amount = Annotated[int, Field(ge=1, le=MOST), WHOLE]


def _refuse_numbers(value: Any) -> Any:
    """Refuse 5, which would become a time in 1970."""
    if not isinstance(value, str):
        raise ValueError("must be a time with its zone, for example 2026-11-22T14:05:00Z")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_refuse_numbers)]
Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
Reason = Annotated[str, Field(max_length=LONGEST_WHY, description="Kept in the run's history.")]
Yes = Annotated[bool, Field(strict=True)]  # strict: otherwise "no" would be converted
MOST_PRICE = 99_999_999
# A number, or a text that keeps every digit.
PRICE = [
    {"type": "number", "minimum": 0, "maximum": MOST_PRICE},
    {"type": "string", "pattern": r"^[0-9]{1,8}(\.[0-9]{1,4})?$"},
]


def price_field(description: str, required: bool = False) -> Any:
    kinds: list[Any] = PRICE if required else [*PRICE, {"type": "null"}]
    more: dict[str, Any] = {"anyOf": kinds, "examples": [0.05]}
    default: Any = ... if required else None
    return Field(default, ge=0, le=MOST_PRICE, description=description, json_schema_extra=more)


# A worker's, by name; models.read_attributes checks what JSON types cannot say.
Strict = Field(strict=True)
Attributes = dict[
    str,
    Annotated[str, Strict]
    | Annotated[bool, Strict]
    | Annotated[int, Strict]
    | Annotated[float, Strict],
]

# Value of an algorithm's option.
Value = bool | Annotated[int, Field(ge=-(2**53), le=2**53)] | float | str | None


class _Filled(UploadedFile):
    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "format": "binary", "minLength": 1}


Sent = File[_Filled]  # as multipart/form-data


class Part(Schema):
    """A part of a body in which every field is optional: it must be an object nevertheless.

    Otherwise any value would pass for one without fields.
    """

    @model_validator(mode="before")
    @classmethod
    def _require_object(cls, values: Any) -> Any:
        if not isinstance(getattr(values, "_obj", values), dict):
            raise ValueError("Send an object.")
        return values


def build_schema(
    name: str,
    fields: dict[str, tuple[Any, Any]],
    base: type[Schema] = Schema,
    about: dict[str, Any] | None = None,
) -> Any:
    """Build a schema with these fields, each a type and a field with its limits.

    about  further attributes of the class
    """
    parts = {name: field for name, (_, field) in fields.items()} | (about or {})
    parts["__annotations__"] = {name: hint for name, (hint, _) in fields.items()}
    return new_class(name, (base,), exec_body=lambda body: body.update(parts))


class Changes(Schema, extra="forbid"):
    """The body of a change: omitted fields stay, and null too, except where it is a value."""

    nullable: ClassVar[frozenset[str]] = frozenset()

    def read_changes(self) -> dict[str, Any]:
        given = self.dict(exclude_unset=True).items()
        return {name: value for name, value in given if value is not None or name in self.nullable}


def changes_of(schema: type[Schema], *without: str, **others: Any) -> Any:
    """Build the body of a change from that of a creation, with the same limits.

    without  fields that do not change
    others   fields with limits of their own
    """
    fields = {name: one for name, one in schema.model_fields.items() if name not in without}
    hints = {
        name: (Annotated[one.annotation, Field(), *one.metadata] | None, None)
        for name, one in fields.items()
    } | others
    nullable = frozenset(name for name, one in fields.items() if one.default is None)
    about = {"nullable": nullable, "__doc__": "Omitted fields stay."}
    return build_schema(f"{schema.__name__.removesuffix('In')}ChangeIn", hints, Changes, about)


Declared = TypeVar("Declared", bound=Schema)


def declared_by(
    source: type[Any], without: tuple[str, ...] = ()
) -> Callable[[type[Declared]], type[Declared]]:
    """Add to a schema the fields of this dataclass, with their descriptions.

    without  fields that the API does not have

    Fields of the schema itself replace those of the same name; others of its own come last.
    """

    def fill(schema: type[Declared]) -> type[Declared]:
        hints = get_type_hints(source, include_extras=True) | get_type_hints(schema)
        names = [n for n in source.__dataclass_fields__ | schema.model_fields if n not in without]
        fields = {
            name: schema.model_fields.get(name)
            or Field(description=getattr(hints[name], "__metadata__", [None])[0])
            for name in names
        }
        hinted = {name: (hints[name], field) for name, field in fields.items()}
        about = {"__doc__": schema.__doc__, "__module__": schema.__module__}
        return cast(type[Declared], build_schema(schema.__name__, hinted, about=about))

    return fill


class Named(Page):
    name: str = Field(
        "", max_length=LONGEST_KEY, description="Only the object with exactly this name."
    )
    search: str = Field(
        "", max_length=LONGEST_KEY, description="Only objects with this in their name."
    )


def filter_named(rows: QuerySet[Any], query: Named) -> QuerySet[Any]:
    rows = rows.filter(name__icontains=query.search)
    return rows.filter(name=query.name) if query.name else rows


class FateOut(Schema):
    """Result of a row; rows are counted from 1."""

    row: int
    result: str = Field(description="added, changed, unchanged or refused.", examples=["added"])
    reason: str = Field("", alias="why", description="Reason if it was refused.")


class RowsOut(Schema):
    """Results of the rows: a refused row does not affect the others."""

    added: int
    changed: int
    unchanged: int
    refused: int
    rows: list[FateOut]
