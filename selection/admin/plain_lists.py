"""Pages of the admin without *Save and add another*; lists with plain titles and local times."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField, Model
from django.forms import Media
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from selection.template_filters import local_time


class PlainListMixin:
    """Admin of which the list is titled by its objects, instead of “Select … to change”."""

    model: Any

    @property
    def media(self) -> Media:
        """Leave out the scripts that make one field of another: 200 kB that no form here uses."""
        names = (
            "vendor/jquery/jquery.min",
            "jquery.init",
            "core",
            "admin/RelatedObjectLookups",
            "actions",
        )
        return Media(js=[f"admin/js/{name}.js" for name in names])

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = {"title": capfirst(self.model._meta.verbose_name_plural)}
        return super().changelist_view(request, title | (extra_context or {}))  # type: ignore[misc]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["show_save_and_add_another"] = False
        return super().render_change_form(request, context, *args, **kwargs)  # type: ignore[misc]

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)  # type: ignore[misc]
        return [_local_column(self.model, column) for column in columns]


@cache
def _local_column(model: type[Model], column: Any) -> Any:
    """Keep the column; a time becomes a function that shows it in the browser's zone."""
    try:
        field = model._meta.get_field(column) if isinstance(column, str) else None
    except FieldDoesNotExist:
        field = None
    return _time_column(field) if isinstance(field, DateTimeField) else column


def _time_column(field: Any) -> Callable[[Model], Any]:
    def show_time(item: Model) -> Any:
        return local_time(getattr(item, field.name)) or None

    column: Any = show_time
    column.__name__ = field.name
    column.short_description = field.verbose_name
    column.admin_order_field = field.name
    return show_time
