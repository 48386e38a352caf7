"""A new pool or question set with its first file: saving it leads to the file's preview."""

from copy import copy
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from selection.accounts import scoped
from selection.admin.forms import UploadForm
from selection.errors import Refused
from selection.imports import uploads
from selection.models import Pool, QuestionSet

from .importers import Importer

FIELDS = ("file", "pasted")


class FirstFileForm(forms.ModelForm):
    """Form of an object with a file, or its text, that is imported next."""

    file = UploadForm.base_fields["file"]
    pasted = UploadForm.base_fields["pasted"]


class FirstFileMixin:
    """Admin of objects that are filled by a file. Its form derives from FirstFileForm."""

    importer: Importer

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Offer the file for a new object only, after its name."""
        fields = list(super().get_fields(request, obj))  # type: ignore[misc]
        if obj is None:
            place = fields.index("name") + 1
            fields[place:place] = FIELDS
        return fields

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Explain the file's columns beside it, as the page of imports does."""
        form = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        if "file" in form.base_fields:
            form.base_fields["file"] = copy(form.base_fields["file"])
            form.base_fields["file"].help_text = _describe_columns(self.importer)
        return form

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Tell what is there for the next step, which the page offers as a button."""
        sets, pools = scoped(QuestionSet, request), scoped(Pool, request)
        context["has_gold"] = sets.filter(questions__isnull=False).exists()
        context["has_workers"] = pools.filter(workers__isnull=False).exists()
        return super().render_change_form(request, context, *args, **kwargs)  # type: ignore[misc]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Redirect to the file's preview or the import: an empty object is of no use."""
        if {"_continue", "_popup"} & set(request.POST):
            response: HttpResponse = super().response_add(  # type: ignore[misc]
                request, obj, post_url_continue
            )
            return response
        address = f"admin:selection_{obj._meta.model_name}"
        if upload := self._upload_first_file(request, obj):
            return redirect(f"{address}_preview", obj.pk, upload)
        return redirect(f"{address}_import", obj.pk)

    def _upload_first_file(self, request: HttpRequest, target: Model) -> Any:
        form = UploadForm(request.POST, request.FILES)
        if not request.FILES.get("file") and not request.POST.get("pasted", "").strip():
            return None
        try:
            if not form.is_valid():
                raise Refused(" ".join(map(str, form.non_field_errors())))
            name, content = form.cleaned_data["name"], form.cleaned_data["content"]
            return uploads.create_upload(self.importer.kind, target, name, content).pk
        except Refused as refusal:
            messages.error(request, str(refusal))
            return None


def _describe_columns(importer: Importer) -> SafeString:
    lines = format_html_join("", "<li>{}</li>", ((line,) for line in importer.help))
    template = '<ul class="cs-help">{}</ul><pre class="cs-example">{}</pre>'
    return format_html(template, lines, importer.example)
