"""Pagination by the last row of the previous page, so that new rows do not shift pages."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Field, Schema

from selection.errors import Refused
from selection.limits import MOST_PAGE

Row = TypeVar("Row")
LONGEST_CURSOR = 300
NEXT: dict[str, Any] = {
    "responses": {
        200: {
            "headers": {
                "Link": {
                    "description": 'The address of the next page, as <…>; rel="next", while there '
                    "is one.",
                    "schema": {"type": "string"},
                }
            }
        }
    }
}


class Page(Schema):
    cursor: str = Field(
        "",
        max_length=LONGEST_CURSOR,
        description="Where the page begins, as the header Link of the page before has it.",
    )
    limit: int = Field(100, ge=1, le=MOST_PAGE, description="Most rows of a page.")


def paginate(
    request: HttpRequest, response: HttpResponse, rows: QuerySet[Any], query: Any, by: str = "pk"
) -> list[Any]:
    """Cut the rows of this page; the header Link of ``response`` leads to the next one.

    query  its ``cursor``, and its ``limit``: None for no limit
    by     a unique field: an integer, or a worker's key; with "-" the largest comes first
    """
    field, down = by.removeprefix("-"), by.startswith("-")
    if query.cursor:
        after = query.cursor if field.endswith("key") else parse_cursor(query.cursor)
        rows = rows.filter(**{f"{field}__{'lt' if down else 'gt'}": after})
    most = None if query.limit is None else query.limit + 1
    page = list(rows.order_by(by)[:most])
    return cut_page(request, response, page, query.limit, lambda row: _cursor_value(row, field))


def paginate_list(
    request: HttpRequest,
    response: HttpResponse,
    rows: Sequence[Row],
    cursor: str,
    limit: int | None,
    number_of: Callable[[Row], int],
) -> list[Row]:
    """Cut the page of a list in memory, in its own order; like ``paginate``.

    number_of  returns a row's number, by which a cursor finds it again
    """
    first = 0
    if cursor:
        numbers = [number_of(row) for row in rows]
        after = parse_cursor(cursor)
        if after not in numbers:
            raise Refused(NO_PAGE)
        first = numbers.index(after) + 1
    end = len(rows) if limit is None else first + limit + 1
    return cut_page(request, response, list(rows[first:end]), limit, number_of)


NO_PAGE = "There is no page at this cursor: take it from the header Link of the page before."


def parse_cursor(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
        raise Refused(NO_PAGE)
    return int(cursor)


def cut_page(
    request: HttpRequest,
    response: HttpResponse,
    rows: list[Row],
    limit: int | None,
    value: Callable[[Row], object],
) -> list[Row]:
    """Cut up to ``limit`` + 1 rows to the page; set the header Link.

    value  returns a row's cursor, after which the next page continues
    """
    if limit is not None and len(rows) > limit:
        rows = rows[:limit]
        add_next_link(request, response, str(value(rows[-1])))
    return rows


def add_next_link(request: HttpRequest, response: HttpResponse, cursor: str) -> None:
    query = request.GET.copy()
    query["cursor"] = cursor
    query.pop("after", None)
    address = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
    response["Link"] = f'<{address}>; rel="next"'


def _cursor_value(row: Any, path: str) -> Any:
    for name in path.split("__"):
        row = row[name] if isinstance(row, dict) else getattr(row, name)
    return row
