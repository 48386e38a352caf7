"""Base class of the requester's pages inside the admin, each about one object."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.text import slugify
from django.views.generic import View
from django.views.generic.base import ContextMixin, TemplateResponseMixin
from unfold.admin import ModelAdmin
from unfold.views import UnfoldModelAdminViewMixin

from selection import exports
from selection.accounts import MEMBER, is_allowed, scoped
from selection.errors import Refused
from selection.models import Candidate

CSV = "text/csv; charset=utf-8"


class CountedDeletionMixin:
    """Admin of which the deletion page gives counts, not names: there may be thousands.

    contents  the number of objects that are deleted with one, by their plural
    uses      what needs an object and so prevents its deletion, in words
    """

    def contents(self, item: Any) -> dict[str, int]:
        return {str(item._meta.verbose_name_plural): 1}

    def uses(self, item: Any) -> Iterable[str]:
        return ()

    def get_deleted_objects(
        self, objs: Iterable[Any], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        items = list(objs)
        counts: Counter[str] = Counter()
        for item in items:
            counts.update(self.contents(item))
        protected = [use for item in items for use in self.uses(item)]
        return [str(item) for item in items], dict(counts), set(), protected


class Page(UnfoldModelAdminViewMixin, TemplateResponseMixin, ContextMixin, View):
    """A page about ``object``, the admin's object with the id in the address; 404 in other teams.

    The permissions required are checked in the object's team. A page that requires none by name
    needs the permission to view such objects.

    location      its route below the admin's list, and the end of the address's name
    heading       the title, with {} for the object's name
    below_object  True if the object's own page is above this one
    """

    permission_required: Sequence[str] = ()
    location = ("", "")
    heading = "{}"
    below_object = False

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
        """Tell if the user has the permission in the team of the page's object."""
        return is_allowed(self.request, permission, self.object)

    @property
    def title(self) -> str:
        return self.heading.format(self.object)

    @property
    def username(self) -> str:
        return str(self.request.user.get_username())

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return self.render_to_response(self.get_context_data())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # Not "object": the layout would draw a second breadcrumb trail for it.
        facts = {"subject": self.object, "crumbs": self.crumbs(), "perms": _Permissions(self.may)}
        return super().get_context_data(**kwargs, **facts)

    def crumbs(self) -> list[tuple[str, str]]:
        """List (title, address) of the pages between the list, named by the layout, and this."""
        return [(str(self.object), object_url(self.object))] if self.below_object else []


class CandidatePage(Page):
    """A page about a worker in the run that is the page's object."""

    @cached_property
    def candidate(self) -> Candidate:
        rows = self.object.candidates.select_related("worker", "run", "run__pool")
        candidate: Candidate = get_object_or_404(rows, pk=self.kwargs["candidate"])
        return candidate


class FormPage(Page):
    """A page with a form, which ``apply_form`` carries out. A refusal becomes the form's error."""

    form_class: Any

    def build_form(self, *data: Any) -> Any:
        return self.form_class(*data)

    def apply_form(self, form: Any) -> HttpResponseBase:
        raise NotImplementedError

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if "form" not in kwargs:
            kwargs["form"] = self.build_form()
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form: BaseForm = self.build_form(request.POST, request.FILES)
        if form.is_valid():
            try:
                return self.apply_form(form)
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))


class ActionPage(Page):
    """A page with buttons, each of which sends the name of an action as ``do``.

    actions  by name, methods that return a response, or None to show the page again
    """

    actions: Mapping[str, Callable[[Any], HttpResponseBase | None]] = {}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        action = self.actions.get(request.POST.get("do", ""))
        if action is None:
            raise Http404
        try:
            return action(self) or self.redirect_back()
        except Refused as refusal:
            messages.error(request, str(refusal))
            return self.redirect_back()

    def redirect_back(self) -> HttpResponse:
        return redirect(self.request.path)


class _Permissions:
    """A template's ``perms.app.permission``, checked in the team of the page's object."""

    def __init__(self, may: Callable[[str], bool], app: str = "") -> None:
        self.may, self.app = may, app

    def __getitem__(self, name: str) -> Any:
        return self.may(f"{self.app}.{name}") if self.app else _Permissions(self.may, name)


def page_urls(model_admin: ModelAdmin, *pages: type[Page], **options: Any) -> list[URLPattern]:
    name = f"selection_{model_admin.model._meta.model_name}"
    wrap = model_admin.admin_site.admin_view
    return [
        path(route, wrap(page.as_view(model_admin=model_admin, **options)), name=f"{name}_{end}")
        for page in pages
        for route, end in [page.location]
    ]


def list_url(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def object_url(item: Model) -> str:
    """Find the address of an object's page: its own page, or else the change form."""
    meta = item._meta
    name = "page" if meta.model_name in ("run", "watch") else "change"
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{name}", args=[item.pk])


def csv_response(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any] | Mapping[str, Any]],
    style: exports.CsvStyle | None = None,
) -> StreamingHttpResponse:
    """Make a download of the rows, each a sequence or a dictionary of its cells.

    style  None: that of the viewer's spreadsheets
    """
    cells = ([row[c] for c in columns] if isinstance(row, Mapping) else row for row in rows)
    table = exports.ExportTable(columns, cells)
    pieces = exports.csv_file(table, style=style or exports.choose_style())
    return file_response(exports.File(f"{slugify(name) or 'crowdselect'}.csv", CSV, pieces))


def file_response(file: exports.File) -> StreamingHttpResponse:
    """Stream a download that is sent while it is made, so its length does not matter."""
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return StreamingHttpResponse(file.pieces, content_type=file.media, headers=headers)


def lines_response(name: str, rows: Iterable[Mapping[str, Any]]) -> StreamingHttpResponse:
    pieces = (f"{exports.json_text(row, None)}\n".encode() for row in rows)
    return file_response(exports.File(f"{slugify(name)}.jsonl", "application/jsonl", pieces))
