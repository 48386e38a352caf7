"""Pages of a worker's personal data: download and erasure."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.text import slugify
from unfold.widgets import UnfoldAdminTextInputWidget

from selection import exports, privacy
from selection.models import Worker

from .page import Page, file_response, list_url


class ErasureForm(forms.Form):
    why = forms.CharField(
        label="Reason",
        max_length=300,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "For the audit log"}),
    )


class WorkerDataPage(Page):
    permission_required = ["selection.view_worker", "selection.view_answer"]
    location = ("<int:pk>/data.json", "data")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        worker: Worker = self.object
        document = privacy.export_worker(privacy.same_person(worker.key, worker.pool.team))
        text = exports.json_text(document).encode()
        name = f"{slugify(worker.key) or 'worker'}-data.json"
        return file_response(exports.File(name, "application/json", iter([text])))


class ErasePage(Page):
    """A confirmation page that lists the data to be erased and the data that stay."""

    permission_required = ["selection.delete_worker", "selection.change_run"]
    location = ("<int:pk>/erase/", "erase")
    heading = "Erase {}?"
    below_object = True
    template_name = "selection/worker_erase.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        rows = self._worker_rows()
        facts = {"rows": rows, "runs": privacy.runs_of(rows), "form": ErasureForm()}
        facts["effects"] = privacy.preview_erasure(rows)
        return super().get_context_data(**kwargs, **facts)

    def _worker_rows(self) -> Sequence[Worker]:
        return privacy.same_person(self.object.key, self.object.pool.team)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form = ErasureForm(request.POST)
        reason = form.cleaned_data["why"] if form.is_valid() else ""
        erasure = privacy.erase_worker(list(self._worker_rows()), self.username, reason)
        messages.success(
            request,
            f"Erased. In their runs they are {erasure.pseudonym} from now on."
            + "".join(f" Withdrawn from {run}." for run in erasure.withdrawn),
        )
        return redirect(list_url(Worker))
