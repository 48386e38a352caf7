"""A page that makes temporary links for workers, as a file."""

from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from selection import db_clock
from selection.admin.page import Page, csv_response, page_urls
from selection.errors import Refused
from selection.worker import temporary_links


class TemporaryLinksForm(forms.Form):
    workers = forms.CharField(
        label="Worker ids",
        widget=UnfoldAdminTextareaWidget({"rows": 8, "spellcheck": "false"}),
        help_text="One per line. While the roster is open new workers join by their link.",
    )
    hours = forms.IntegerField(
        label="Valid for (hours)",
        min_value=1,
        max_value=24 * temporary_links.LONGEST.days,
        initial=72,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="After that the link and the page behind it no longer open.",
    )


class TemporaryLinksPage(Page):
    permission_required = ["selection.change_run"]
    below_object = True
    template_name = "selection/temporary_links.html"

    @property
    def title(self) -> str:
        return f"Temporary links of {self.object}"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", TemporaryLinksForm())
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form = TemporaryLinksForm(request.POST)
        if form.is_valid():
            try:
                return self._make_file(form.cleaned_data)
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))

    def _make_file(self, given: dict[str, Any]) -> HttpResponseBase:
        until = db_clock.database_now() + timedelta(hours=given["hours"])
        made = temporary_links.make_temporary_links(
            self.object, given["workers"].splitlines(), until, self.request.user.get_username()
        )
        rows = [
            [worker, link, until.isoformat(timespec="seconds")] for worker, link in made.items()
        ]
        return csv_response(f"{self.object} temporary links", ["worker", "link", "until"], rows)


def temporary_link_urls(model_admin: ModelAdmin) -> list[URLPattern]:
    pages = {"<int:pk>/temporary-links/": ("temporary_links", TemporaryLinksPage)}
    return page_urls(model_admin, pages)
