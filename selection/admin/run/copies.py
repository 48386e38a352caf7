"""Copying a run into a draft."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from selection.admin import styled
from selection.admin.page import FormPage, object_url
from selection.runs.settings import drafts

from .changes import ReasonForm


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
