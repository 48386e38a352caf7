"""Protection of Django's lists and forms against malformed addresses and ids."""

from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.forms import ModelChoiceField
from django.http import HttpRequest

from . import styled

# Used by the filters beside a list, and by links to a part of a list.
ALLOWED_LOOKUPS = ("", "exact", "isnull", "isempty", "in")
LONGEST_NUMBER = 18  # digits that fit into a column


def parse_id(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def _comparable(value: str) -> bool:
    """Tell if a database can compare a column with the value: no number is too large."""
    parts = [part.lstrip("-") for part in value.split(",")]
    return len(value) < 200 and not any(
        part.isdecimal() and len(part) > LONGEST_NUMBER for part in parts
    )


class RowIdWidgetMixin:
    """Widget of which the choices are row ids. Anything else becomes the id of no row.

    The field refuses that in a sentence; the database would raise an error.
    """

    def value_from_datadict(self, *sent: Any) -> Any:
        value = super().value_from_datadict(*sent)  # type: ignore[misc]
        if isinstance(value, list):
            return [_row_number(number) for number in value]
        return value and _row_number(value)


def _row_number(value: str) -> str:
    return value if parse_id(value) is not None else "0"


class SafeChoiceFieldsMixin:
    """Admin or inline that accepts arbitrary input where a row is to be chosen."""

    formfield_overrides: Any = styled.FORMFIELDS

    def formfield_for_dbfield(self, *args: Any, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(*args, **kwargs)  # type: ignore[misc]
        if isinstance(field, ModelChoiceField):
            inner = getattr(field.widget, "widget", field.widget)
            kind = type(inner)
            inner.__class__ = type(kind.__name__, (RowIdWidgetMixin, kind), {})
        return field


class SafeLookupsMixin(SafeChoiceFieldsMixin):
    """An admin of which the lists and forms never lead from a bad address to a server error.

    Django lets an address filter a list by any column in any way, even by an invalid regular
    expression or year, and prefills a form with values that no field can hold.
    """

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow equality on the list's filters and on foreign keys; refuse other lookups."""
        opts = self.opts  # type: ignore[attr-defined]
        filters = {
            item[0] if isinstance(item, tuple) else item
            for item in self.get_list_filter(request)  # type: ignore[attr-defined]
        }
        column, _, rest = lookup.partition("__")
        try:
            foreign = opts.get_field(column).many_to_one
        except FieldDoesNotExist:
            return True  # Django reports politely that there is no such column
        how = rest.removeprefix("id__").removeprefix("id") if foreign else rest
        return (column in filters or foreign) and how in ALLOWED_LOOKUPS and _comparable(value)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Find the object; None if the id exceeds a column's range."""
        if len(object_id) > LONGEST_NUMBER:
            return None
        return super().get_object(  # type: ignore[misc]
            request, object_id, from_field or None
        )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial = super().get_changeform_initial_data(request)  # type: ignore[misc]
        return {
            name: value for name, value in initial.items() if self._is_valid_lookup(name, value)
        }

    def _is_valid_lookup(self, name: str, value: Any) -> bool:
        try:
            field = self.opts.get_field(name)  # type: ignore[attr-defined]
            if field.is_relation:
                return bool(field.many_to_one) and parse_id(value) is not None
            field.to_python(value)
        except (FieldDoesNotExist, ValidationError, ValueError):
            return False
        return True
