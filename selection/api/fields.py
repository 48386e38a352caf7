"""Kinds of values that more than one address takes."""

from typing import Annotated, Any

from ninja import Field, File, Schema
from ninja.files import UploadedFile
from ninja.schema import model_validator  # type: ignore[attr-defined]  # pydantic's, by way of ninja
from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from selection.limits import LONGEST_KEY, LONGEST_WHY

from .pagination import Page

MOST = 2**31 - 1  # that a column holds

Id = Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]
Amount = Annotated[int, Field(ge=1, le=MOST)]
Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
Why = Annotated[str, Field(max_length=LONGEST_WHY, description="Kept in the run's history.")]
Yes = Annotated[bool, Field(strict=True)]  # never "no", which would be taken for true
# A number, or as text, so that no digit is lost.
PRICE: dict[str, Any] = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 99_999_999},
        {"type": "string", "pattern": r"^[0-9]{1,8}(\.[0-9]{1,4})?$"},
        {"type": "null"},
    ],
    "examples": [0.05],
}


def price_field(description: str) -> Any:
    return Field(None, ge=0, le=99_999_999, description=description, json_schema_extra=PRICE)


# A worker's, by name; models.read_attributes checks what JSON types cannot say.
Attributes = dict[str, StrictStr | StrictBool | StrictInt | StrictFloat]

# Of an algorithm's option.
Value = bool | Annotated[int, Field(ge=-(2**53), le=2**53)] | float | str | None


class _Filled(UploadedFile):
    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "format": "binary", "minLength": 1}


Sent = File[_Filled]  # in a form, multipart/form-data


class Part(Schema):
    """A part of what is sent, of which everything may be left out: an object all the same.

    Else whatever is sent would do for one without fields.
    """

    @model_validator(mode="before")
    @classmethod
    def _require_object(cls, values: Any) -> Any:
        if not isinstance(getattr(values, "_obj", values), dict):
            raise ValueError("Send an object.")
        return values


class Named(Page):
    name: str = Field("", max_length=LONGEST_KEY, description="Only what is called exactly this.")
    search: str = Field("", max_length=LONGEST_KEY, description="Only what has this in its name.")


class FateOut(Schema):
    """What became of one row of many; rows are counted from 1."""

    row: int
    result: str = Field(description="added, changed, unchanged or refused.", examples=["added"])
    why: str = Field("", description="Why it was refused.")


class RowsOut(Schema):
    """What became of the rows: a refused one leaves the others alone."""

    added: int
    changed: int
    unchanged: int
    refused: int
    rows: list[FateOut]
