"""Import of a file: upload, preview with a choice of columns, and commit.

Between preview and commit the file is kept in the database: another web server may continue.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from selection.admin.forms import UploadForm
from selection.admin.page import FormPage, Page, csv_response, object_url
from selection.answers.recording import Outside
from selection.errors import NotFound, Refused
from selection.imports import commit, uploads
from selection.imports.column_plan import ColumnPlan
from selection.imports.platforms import suggest_other_kind
from selection.imports.submissions import statuses_of
from selection.models import Pool, Upload
from selection.questions import corrected_files, media
from selection.runs import changes
from selection.runs.roster import platform_submissions
from selection.texts import count_noun

from .column_form import ColumnForm
from .importers import WORKERS, Importer
from .join_offer import offer_joining

PROBLEMS_SHOWN = 200
# From this number of rows on, the same problem in all of them is shown as one.
ALIKE_ROWS = 5
ROWS_SHOWN = 10

State = Upload.State


class ImportPage(Page):
    importer: Importer = WORKERS  # as_view sets the right one
    below_object = True

    def has_permission(self) -> bool:
        return self.may(self.importer.permission)

    @property
    def title(self) -> str:
        return self.importer.title

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            importer=self.importer, back=object_url(self.object), **kwargs
        )

    def address(self, step: str, *args: Any) -> str:
        model = self.model_admin.model._meta.model_name
        return reverse(f"admin:selection_{model}_{step}", args=[self.object.pk, *args])


class UploadPage(FormPage, ImportPage):
    location = ("<int:pk>/import/", "import")
    template_name = "selection/import.html"
    form_class = UploadForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        last = uploads.last_taken(self.importer.kind, self.object)
        undo = self.address("preview", last.pk) if last else ""
        return super().get_context_data(taken=last, undo=undo, **kwargs)

    def apply_form(self, form: UploadForm) -> HttpResponse:
        name, content = form.cleaned_data["name"], form.cleaned_data["content"]
        upload = uploads.create_upload(self.importer.kind, self.object, name, content)
        return redirect(self.address("preview", upload.pk))


class PreviewPage(ImportPage):
    location = ("<int:pk>/import/<uuid:upload>/", "preview")
    template_name = "selection/import_preview.html"

    def upload(self) -> Upload:
        return get_object_or_404(
            Upload, pk=self.kwargs["upload"], kind=self.importer.kind, subject=self.object.pk
        )

    @property
    def outside(self) -> Outside:
        """Treatment of answers outside a question's choices, set by the page's switch."""
        query = self.request.POST if self.request.method == "POST" else self.request.GET
        chosen = query.get("outside")
        return "wrong" if chosen == "wrong" else "correct" if chosen == "correct" else "refuse"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not Upload.objects.filter(pk=self.kwargs["upload"]).exists():
            return self._redirect_gone()
        upload = self.upload()
        if "problems" in request.GET:
            problems = commit.rejected_rows(upload, self.outside)
            rows = ({"line": row.line, "reason": row.why} for row in problems.iterator())
            return csv_response("rows-not-taken", ["line", "reason"], rows)
        if upload.state == State.TAKEN:
            return self.render_to_response(self.get_context_data(upload=upload))
        return self._render_preview(upload)

    def _render_preview(self, upload: Upload, form: ColumnForm | None = None) -> HttpResponse:
        try:
            head = uploads.read_head(upload)
        except Refused as refusal:
            return self._redirect_refused(upload, refusal)
        rejected = commit.rejected_rows(upload, self.outside)
        problems = list(rejected[:PROBLEMS_SHOWN])
        plan = ColumnPlan(**upload.plan)
        context = self.get_context_data(
            upload=upload,
            head=head,
            plan=plan,
            form=form or ColumnForm(plan, head, encoding=upload.encoding),
            hint=suggest_other_kind(upload.kind, head.header) if plan.missing_fields() else "",
            missing=plan.missing_fields(),
            outside="" if self.outside == "refuse" else self.outside,
            count=upload.accepted_rows + (upload.outside if self.outside != "refuse" else 0),
            not_taken=upload.bad + (upload.outside if self.outside == "refuse" else 0),
            problems=problems,
            same=_are_alike([problem.why for problem in problems]) and not upload.accepted_rows,
            **(self._sorted_rows(upload) if upload.state == State.DONE else {}),
        )
        return self.render_to_response(context)

    def _sorted_rows(self, upload: Upload) -> dict[str, Any]:
        rows = commit.accepted_rows(upload, self.outside)[:ROWS_SHOWN]
        statuses = statuses_of(upload) if upload.kind == Upload.Kind.WORKERS else {}
        return {
            "gave_up": [
                key for key, status in statuses.items() if platform_submissions.has_left(status)
            ],
            "missing_media": media.missing_in_rows(self.object, commit.accepted_rows(upload))
            if upload.kind == Upload.Kind.QUESTIONS
            else [],
            "may_switch": upload.kind == Upload.Kind.ANSWERS
            and changes.may_use_recorded_only(self.object),
            "words": self.importer.words(self.object, upload, self.outside),
            "rows": [self.importer.cells(row) for row in rows],
        }

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not Upload.objects.filter(pk=self.kwargs["upload"]).exists():
            return self._redirect_gone()
        upload = self.upload()
        if "cancel" in request.POST:
            uploads.discard_upload(upload)
            return redirect(self.address("import"))
        if "columns" in request.POST:
            return self._name_columns(upload)
        return self._undo_import(upload) if "undo" in request.POST else self._commit(upload)

    def _name_columns(self, upload: Upload) -> HttpResponseBase:
        try:
            plan, head = ColumnPlan(**upload.plan), uploads.read_head(upload)
            form = ColumnForm(plan, head, self.request.POST, upload.encoding)
            if row := form.chosen_header_row():
                uploads.begin_at(upload, row, upload.encoding)
                return redirect(self.address("preview", upload.pk))
            if not form.is_valid():
                return self._render_preview(upload, form)
            uploads.name_columns(upload, form.plan(), form.cleaned_data.get("encoding", ""))
        except Refused as refusal:
            messages.error(self.request, str(refusal))
        return redirect(self.address("preview", upload.pk))

    def _commit(self, upload: Upload) -> HttpResponse:
        if upload.state != State.TAKEN and upload.state != State.DONE:
            return redirect(self.address("preview", upload.pk))
        try:
            with transaction.atomic():
                if upload.kind == Upload.Kind.ANSWERS and "recorded_only" in self.request.POST:
                    changes.use_recorded_only(self.object, self.username)
                upload, count = corrected_files.commit_file(upload, self.outside, self.username)
        except NotFound:
            return self._redirect_gone()
        except Refused as refusal:
            return self._redirect_refused(upload, refusal)
        messages.success(self.request, f"{count_noun(count, self.importer.noun)} imported.")
        refused = upload.bad + (upload.outside if self.outside == "refuse" else 0)
        if refused:
            messages.warning(self.request, f"{count_noun(refused, 'row')} not imported.")
        if isinstance(self.object, Pool):
            offer_joining(self.request, self.object)
        return redirect(object_url(self.object))

    def _undo_import(self, upload: Upload) -> HttpResponse:
        try:
            commit.undo_import(upload.pk)
        except Refused as refusal:
            messages.error(self.request, str(refusal))
            return redirect(self.address("import"))
        messages.success(self.request, f"Import of {upload.name} undone.")
        return redirect(object_url(self.object))

    def _redirect_gone(self) -> HttpResponseRedirect:
        messages.info(self.request, "This file was imported or discarded already.")
        return redirect(object_url(self.object))

    def _redirect_refused(self, upload: Upload, refusal: Refused) -> HttpResponseRedirect:
        messages.error(self.request, str(refusal))
        uploads.discard_upload(upload)
        return redirect(self.address("import"))


IMPORT_PAGES = (UploadPage, PreviewPage)


def _are_alike(reasons: Sequence[str]) -> bool:
    """Tell if the reasons differ only in the names that they quote."""
    kinds = {re.sub("“[^”]*(?:”|$)", "", reason) for reason in reasons}
    return len(reasons) >= ALIKE_ROWS and len(kinds) == 1
