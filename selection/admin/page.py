"""A page of our own inside the admin, about one object."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import slugify
from django.views.generic import TemplateView
from unfold.views import UnfoldModelAdminViewMixin


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


class Page(UnfoldModelAdminViewMixin, TemplateView):
    """``object`` is the one of the admin's model whose id is in the address."""

    permission_required: Sequence[str] = ()

    @cached_property
    def object(self) -> Any:
        return get_object_or_404(self.model_admin.model, pk=self.kwargs["pk"])

    @property
    def title(self) -> str:
        return str(self.object)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # Not "object": for that the layout would draw a second trail of its own.
        return super().get_context_data(**kwargs, subject=self.object, crumbs=self.crumbs())

    def crumbs(self) -> list[tuple[str, str]]:
        """(words, address) of the pages between the list, which the layout names, and this one."""
        return []


def list_url(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def object_url(item: Model) -> str:
    """Where a requester goes to see this pool, question set or run."""
    meta = item._meta
    name = "page" if meta.model_name == "run" else "change"
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{name}", args=[item.pk])


def csv_response(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> HttpResponse:
    """A download. The byte-order mark tells spreadsheets that it is UTF-8."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns)
    writer.writeheader()
    writer.writerows(rows)
    return attachment("\ufeff" + out.getvalue(), name + ".csv", "text/csv; charset=utf-8")


def attachment(body: str, name: str, content_type: str) -> HttpResponse:
    stem, _, suffix = name.rpartition(".")
    filename = f"{slugify(stem) or 'crowdselect'}.{suffix}"
    return HttpResponse(
        body,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
