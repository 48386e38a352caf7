"""Copying a run into a draft, and comparing two runs."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from selection import reports
from selection.accounts import scoped
from selection.admin import styled
from selection.admin.page import FormPage, Page, object_url
from selection.admin.safe_lookups import parse_id
from selection.models import Run
from selection.runs.settings import drafts

from .changes import ReasonForm

RUNS_OFFERED = 50


class CopyForm(ReasonForm):
    name = styled.CharField(label="Name", max_length=200)
    same_seed = styled.BooleanField(
        label="Same seed",
        required=False,
        help_text="Workers then get the same questions in the same order.",
    )
    field_order: Sequence[str] = ["name", "same_seed", "why"]


class CopyPage(FormPage):
    permission_required = ["selection.view_run", "selection.add_run"]
    location = ("<int:pk>/copy/", "copy")
    heading = "Copy {}"
    below_object = True
    template_name = "selection/run_copy.html"

    def build_form(self, *data: Any) -> CopyForm:
        form = CopyForm(*data)
        form.initial["name"] = drafts.name_copy(self.object)
        return form

    def apply_form(self, form: CopyForm) -> HttpResponse:
        name, same_seed, why = (form.cleaned_data[field] for field in CopyForm.field_order)
        copied = drafts.copy_run(self.object, name, same_seed, self.username, why)
        messages.success(self.request, "The copy is a draft. Edit the copy before its start.")
        return redirect(object_url(copied))


class ComparePage(Page):
    permission_required = ["selection.view_run"]
    location = ("<int:pk>/compare/", "compare")
    heading = "Compare {}"
    below_object = True
    template_name = "selection/run_compare.html"

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
