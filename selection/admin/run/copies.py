"""Copying a run into a draft, and comparing two runs."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from selection import reports
from selection.accounts import scoped
from selection.admin.page import Page, object_url, page_urls
from selection.admin.safe_lookups import parse_id
from selection.errors import Refused
from selection.models import Run
from selection.runs import copies

from .changes import ChangeView, ReasonForm

RUNS_OFFERED = 50


class CopyForm(ReasonForm):
    name = forms.CharField(label="Name", max_length=200, widget=UnfoldAdminTextInputWidget())
    same_seed = forms.BooleanField(
        label="Same seed",
        required=False,
        help_text="Workers then get the same questions in the same order.",
        widget=UnfoldBooleanSwitchWidget(),
    )
    field_order: Sequence[str] = ["name", "same_seed", "why"]


class CopyPage(ChangeView):
    permission_required = ["selection.view_run", "selection.add_run"]
    template_name = "selection/run_copy.html"

    @property
    def title(self) -> str:
        return f"Copy {self.object}"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = CopyForm(initial={"name": copies.free_name(self.object)})
        return self.render_to_response(self.get_context_data(form=form))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = CopyForm(request.POST)
        if form.is_valid():
            cleaned = form.cleaned_data
            try:
                copied = copies.copy_run(
                    self.object,
                    cleaned["name"],
                    cleaned["same_seed"],
                    self.username,
                    cleaned["why"],
                )
            except Refused as refusal:
                form.add_error(None, str(refusal))
            else:
                messages.success(request, "The copy is a draft. Edit the copy before its start.")
                return redirect(object_url(copied))
        return self.render_to_response(self.get_context_data(form=form))


class ComparePage(Page):
    permission_required = ["selection.view_run"]
    below_object = True
    template_name = "selection/run_compare.html"

    @property
    def title(self) -> str:
        return f"Compare {self.object}"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run, pk = self.object, parse_id(self.request.GET.get("with", ""))
        started = scoped(Run, self.request).exclude(pk=run.pk).exclude(status=Run.Status.DRAFT)
        comparable = sorted(started[:RUNS_OFFERED], key=lambda other: other.pool_id != run.pool_id)
        other = get_object_or_404(started, pk=pk) if pk is not None else None
        return super().get_context_data(
            **kwargs,
            offered=comparable,
            other=other,
            found=reports.compare_runs(run, other) if other else None,
        )


def copy_urls(model_admin: ModelAdmin) -> list[URLPattern]:
    pages = {"<int:pk>/copy/": ("copy", CopyPage), "<int:pk>/compare/": ("compare", ComparePage)}
    return page_urls(model_admin, pages)
