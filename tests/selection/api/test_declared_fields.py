"""A reply has the fields that a dataclass declares, and files have columns of the same one."""

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
from ninja import Schema

from selection.api.fields import declared_by
from selection.api.run.standings import LineOut
from selection.reports import worker_columns
from selection.reports.worker_columns import WorkerStanding


@dataclass(frozen=True)
class Shelf:
    books: Annotated[int, "How many stand on it."]
    secret: str = ""
    owner: str = ""


@declared_by(Shelf, without=("secret",))
class ShelfOut(Schema):
    """A shelf."""

    owner: int
    place: str


def test_fields_of_the_schema_replace_and_follow_the_declared_ones():
    schema = ShelfOut.model_json_schema()
    properties = schema["properties"]
    assert list(properties) == schema["required"] == ["books", "owner", "place"]
    assert properties["books"] == {
        "description": "How many stand on it.",
        "title": "Books",
        "type": "integer",
    }
    assert properties["owner"]["type"] == "integer"
    assert schema["description"] == "A shelf."


def test_a_worker_s_row_in_the_api_has_every_declared_column():
    assert list(LineOut.model_fields) == [field.name for field in fields(WorkerStanding)]


@pytest.mark.parametrize("output", ["SELECTED", "SELECTED_LIFE", "EVERYBODY", "ROUNDED"])
def test_outputs_have_columns_of_the_same_row(output):
    row = WorkerStanding(1, "w1", "", 4, 0, 2.0, 0.5, 0.123456, 1.0, "undecided", True, None, "")
    columns = [name for name in getattr(worker_columns, output) if name != "rank"]
    assert all(hasattr(row, name) for name in columns)
    assert worker_columns.cell_value(row, "lower") == 0.1235
    assert worker_columns.sort_key(row, "verdict") == -2
