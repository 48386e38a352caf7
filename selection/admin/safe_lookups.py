"""What an address may ask of Django's own pages: what a person can have meant, and nothing else."""

from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.forms import ModelChoiceField
from django.http import HttpRequest

# What the filters beside a list, and links to a part of it, compare a column by.
ALLOWED_LOOKUPS = ("", "exact", "isnull", "isempty", "in")
LONGEST_NUMBER = 18  # digits: what fits into a column


def parse_id(text: str) -> int | None:
    """The number of something, as it stands in an address."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def _comparable(value: str) -> bool:
    """Whether a database compares a column with it: no number in it is too large for one."""
    parts = [part.lstrip("-") for part in value.split(",")]
    return len(value) < 200 and not any(
        part.isdecimal() and len(part) > LONGEST_NUMBER for part in parts
    )


class RowIdWidgetMixin:
    """A widget whose choices are numbers of rows. Anything else becomes the number of no row, which
    the field refuses in a sentence: the database would refuse it with an error."""

    def value_from_datadict(self, *sent: Any) -> Any:
        value = super().value_from_datadict(*sent)  # type: ignore[misc]
        if isinstance(value, list):
            return [_row_number(one) for one in value]
        return value and _row_number(value)


def _row_number(value: str) -> str:
    return value if parse_id(value) is not None else "0"


class SafeChoiceFieldsMixin:
    """For an admin, and for an inline: what is sent to choose a row may be anything."""

    def formfield_for_dbfield(self, *args: Any, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(*args, **kwargs)  # type: ignore[misc]
        if isinstance(field, ModelChoiceField):
            inner = getattr(field.widget, "widget", field.widget)
            kind = type(inner)
            inner.__class__ = type(kind.__name__, (RowIdWidgetMixin, kind), {})
        return field


class SafeLookupsMixin(SafeChoiceFieldsMixin):
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
        return (column in filters or foreign) and how in ALLOWED_LOOKUPS and _comparable(value)

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
        return {name: value for name, value in given.items() if self._is_valid_lookup(name, value)}

    def _is_valid_lookup(self, name: str, value: Any) -> bool:
        try:
            field = self.opts.get_field(name)  # type: ignore[attr-defined]
            if field.is_relation:
                return bool(field.many_to_one) and parse_id(value) is not None
            field.to_python(value)
        except (FieldDoesNotExist, ValidationError, ValueError):
            return False
        return True
