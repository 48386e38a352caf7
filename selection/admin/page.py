"""A page of our own inside the admin, about one object."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import slugify
from django.views.generic import View
from django.views.generic.base import ContextMixin, TemplateResponseMixin
from unfold.views import UnfoldModelAdminViewMixin

from selection.access import MEMBER, allowed, scoped
from selection.intake import files


class DeletedWhole:
    """An admin whose objects hold thousands of others: its page asks with counts, not with names.

    contents  what goes with an object: words and query set of each kind
    """

    def contents(self, item: Any) -> dict[str, QuerySet[Any]]:
        raise NotImplementedError

    def users(self, item: Any) -> Iterable[Model]:
        """What must not lose this object."""
        return ()

    def get_deleted_objects(
        self, objs: Iterable[Any], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        items = list(objs)
        counts: Counter[str] = Counter()
        for item in items:
            counts.update({words: rows.count() for words, rows in self.contents(item).items()})
        protected = [f"{user._meta.verbose_name} “{user}”" for i in items for user in self.users(i)]
        return [str(item) for item in items], dict(counts), set(), protected


class Page(UnfoldModelAdminViewMixin, TemplateResponseMixin, ContextMixin, View):
    """``object`` is the one of the admin's model whose id is in the address.

    There is none for those of other teams. In its team the page's permissions are asked for; a page
    that names none is for those who may look at such objects.
    """

    permission_required: Sequence[str] = ()

    @cached_property
    def object(self) -> Any:
        return get_object_or_404(
            scoped(self.model_admin.model, self.request, MEMBER), pk=self.kwargs["pk"]
        )

    def has_permission(self) -> bool:
        meta = self.model_admin.model._meta
        required = self.get_permission_required() or [f"{meta.app_label}.view_{meta.model_name}"]
        return all(map(self.may, required))

    def may(self, permission: str) -> bool:
        """Whether whoever looks may do this to the page's object."""
        return allowed(self.request, permission, self.object)

    @property
    def title(self) -> str:
        return str(self.object)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return self.render_to_response(self.get_context_data())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # Not "object": for that the layout would draw a second trail of its own.
        facts = {"subject": self.object, "crumbs": self.crumbs(), "perms": _Permissions(self.may)}
        return super().get_context_data(**kwargs, **facts)

    def crumbs(self) -> list[tuple[str, str]]:
        """(words, address) of the pages between the list, which the layout names, and this one."""
        return []


class _Permissions:
    """A template's ``perms.app.permission``, asked for the page's object and not in general."""

    def __init__(self, may: Callable[[str], bool], app: str = "") -> None:
        self.may, self.app = may, app

    def __getitem__(self, name: str) -> Any:
        return self.may(f"{self.app}.{name}") if self.app else _Permissions(self.may, name)


def list_url(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def object_url(item: Model) -> str:
    """Where a requester goes to see this pool, question set or run."""
    meta = item._meta
    name = "page" if meta.model_name == "run" else "change"
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{name}", args=[item.pk])


# The byte-order mark tells spreadsheets that a CSV file is UTF-8.
MARK = "\ufeff"


class _Echo:
    """A file for csv.writer that hands back what is written."""

    def write(self, line: str) -> str:
        return line


def csv_response(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> StreamingHttpResponse:
    """A download of dictionaries, one to a row."""
    return csv_stream(name, columns, ([row[column] for column in columns] for row in rows))


def csv_stream(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> StreamingHttpResponse:
    """A download that is sent while it is made, however long it is."""
    write = csv.writer(_Echo()).writerow
    lines = (write(map(files.defused, row)) for row in rows)
    return StreamingHttpResponse(
        chain([MARK + write(map(files.defused, columns))], lines),
        content_type="text/csv; charset=utf-8",
        headers=_as_file(name, "csv"),
    )


def json_response(name: str, document: Any) -> HttpResponse:
    body = json.dumps(document, indent=2, ensure_ascii=False, cls=DjangoJSONEncoder)
    return HttpResponse(body, content_type="application/json", headers=_as_file(name, "json"))


def _as_file(name: str, suffix: str) -> dict[str, str]:
    filename = f"{slugify(name) or 'crowdselect'}.{suffix}"
    return {"Content-Disposition": f'attachment; filename="{filename}"'}
