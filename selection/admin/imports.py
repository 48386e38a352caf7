"""Bringing a CSV file in: upload, preview, and only on the requester's word, take it.

The file waits in the database between preview and word, so that either may be another web server.
"""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin

from selection import audit
from selection.access import team_of
from selection.errors import Refused
from selection.intake.answers import Outside
from selection.models import Pool, Upload

from .forms import UploadForm
from .importers import WORKERS, Importer, Preview, counted
from .joining import offer_joining
from .page import Page, csv_response, object_url

PROBLEMS_SHOWN = 200


def import_urls(model_admin: ModelAdmin, importer: Importer) -> list[URLPattern]:
    name = f"selection_{model_admin.model._meta.model_name}"
    options = {"model_admin": model_admin, "importer": importer}
    wrap = model_admin.admin_site.admin_view
    upload, preview = UploadPage.as_view(**options), PreviewPage.as_view(**options)
    return [
        path("<int:pk>/import/", wrap(upload), name=f"{name}_import"),
        path("<int:pk>/import/<uuid:upload>/", wrap(preview), name=f"{name}_preview"),
    ]


def to_import(request: HttpRequest, made: Model) -> HttpResponseRedirect | None:
    """After adding a pool or a set: on to its import, unless another way was asked for."""
    if {"_continue", "_addanother", "_popup"} & set(request.POST):
        return None
    return redirect(f"admin:selection_{made._meta.model_name}_import", made.pk)


class ImportPage(Page):
    importer: Importer = WORKERS  # as_view names the right one

    def has_permission(self) -> bool:
        return self.may(self.importer.permission)

    @property
    def title(self) -> str:
        return self.importer.title

    def crumbs(self) -> list[tuple[str, str]]:
        return [(str(self.object), object_url(self.object))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            importer=self.importer, back=object_url(self.object), **kwargs
        )

    def address(self, step: str, *args: Any) -> str:
        model = self.model_admin.model._meta.model_name
        return reverse(f"admin:selection_{model}_{step}", args=[self.object.pk, *args])


class UploadPage(ImportPage):
    template_name = "selection/import.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=UploadForm()))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = UploadForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                return redirect(self.address("preview", self._keep(form.cleaned_data)))
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))

    def _keep(self, cleaned: dict[str, Any]) -> Any:
        """Keep the file for the preview. Raises Refused for one that cannot be read as a whole."""
        name, text = cleaned["name"], cleaned["text"]
        self.importer.preview(self.object, text, name, "refuse")
        team = team_of(self.object)
        assert team is not None  # what a file goes into is stored
        upload = Upload.objects.create(
            team_id=team,
            kind=self.importer.kind,
            target=self.object.pk,
            name=name,
            text=text,
        )
        return upload.pk


class PreviewPage(ImportPage):
    template_name = "selection/import_preview.html"

    def upload(self, **held: Any) -> Upload:
        return get_object_or_404(
            Upload.objects.filter(**held),
            pk=self.kwargs["upload"],
            kind=self.importer.kind,
            target=self.object.pk,
        )

    @property
    def outside(self) -> Outside:
        """What becomes of answers that are none of the choices, by the switch on the page."""
        asked = self.request.POST if self.request.method == "POST" else self.request.GET
        return "wrong" if asked.get("outside") == "wrong" else "refuse"

    def preview(self, upload: Upload) -> Preview:
        return self.importer.preview(self.object, upload.text, upload.name, self.outside)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        upload = Upload.objects.filter(pk=self.kwargs["upload"]).first()
        if upload is None:
            return self._gone()
        try:
            preview = self.preview(self.upload())
        except Refused as refusal:
            return self._refused(refusal)
        if "problems" in request.GET:
            rows = [{"line": row.line, "reason": row.why} for row in preview.problems]
            return csv_response("rows-not-taken", ["line", "reason"], rows)
        context = self.get_context_data(
            upload=upload,
            preview=preview,
            problems_shown=preview.problems[:PROBLEMS_SHOWN],
            wrong=self.outside == "wrong",
        )
        return self.render_to_response(context)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "cancel" in request.POST:
            self.upload().delete()
            return redirect(self.address("import"))
        try:
            taken = self._take()
        except Refused as refusal:
            return self._refused(refusal)
        if taken is None:
            return self._gone()
        noun = self.importer.noun
        messages.success(request, f"{counted(taken.count, noun)} imported.")
        if taken.problems:
            messages.warning(request, f"{counted(len(taken.problems), 'line')} not taken.")
        if isinstance(self.object, Pool):
            offer_joining(request, self.object)
        return redirect(object_url(self.object))

    @transaction.atomic
    def _take(self) -> Preview | None:
        """Take the file, sorted anew, and let go of it: of two clicks one finds it gone."""
        upload = Upload.objects.select_for_update().filter(pk=self.kwargs["upload"]).first()
        if upload is None or (upload.kind, upload.target) != (self.importer.kind, self.object.pk):
            return None
        preview = self.preview(upload)
        preview.take()
        taken = {"file": upload.name, self.importer.noun + "s": preview.count}
        audit.note("import", self.object, after=taken)
        upload.delete()
        return preview

    def _gone(self) -> HttpResponseRedirect:
        messages.info(self.request, "This file has been imported or put aside already.")
        return redirect(object_url(self.object))

    def _refused(self, refusal: Refused) -> HttpResponseRedirect:
        messages.error(self.request, str(refusal))
        return redirect(self.address("import"))
