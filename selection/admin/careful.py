"""What an address may ask of Django's own pages: what a person can have meant, and nothing else."""

from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.http import HttpRequest

# What the filters beside a list, and links to a part of it, compare a column by.
HOW = ("", "exact", "isnull", "isempty", "in")
LONGEST_NUMBER = 18  # digits: what fits into a column


def number(text: str) -> int | None:
    """The number of something, as it stands in an address."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else None


class Careful:
    """An admin on whose lists and forms no address leads to a server error.

    Django lets an address filter a list by any column in any way, also by a bad regular expression
    or a year that is none, and fills a form with what no field can hold.
    """

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """By the filters of the list and the columns of foreign keys, and only for equality."""
        own = self.opts  # type: ignore[attr-defined]
        filters = {
            one[0] if isinstance(one, tuple) else one
            for one in self.get_list_filter(request)  # type: ignore[attr-defined]
        }
        column, _, rest = lookup.partition("__")
        try:
            foreign = own.get_field(column).many_to_one
        except FieldDoesNotExist:
            return True  # Django says kindly that there is no such column
        how = rest.removeprefix("id__").removeprefix("id") if foreign else rest
        return (column in filters or foreign) and how in HOW and len(value) < 200

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """None also for a number that no column holds, and where the column's name is empty."""
        if len(object_id) > LONGEST_NUMBER:
            return None
        return super().get_object(  # type: ignore[misc]
            request, object_id, from_field or None
        )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        given = super().get_changeform_initial_data(request)  # type: ignore[misc]
        return {name: value for name, value in given.items() if self._fits(name, value)}

    def _fits(self, name: str, value: Any) -> bool:
        try:
            field = self.opts.get_field(name)  # type: ignore[attr-defined]
            if field.is_relation:
                return bool(field.many_to_one) and number(value) is not None
            field.to_python(value)
        except (FieldDoesNotExist, ValidationError, ValueError):
            return False
        return True
