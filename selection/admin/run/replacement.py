"""Replacement of selected workers of an ended run: the effect is shown before it is made."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from selection import connectors, reports
from selection.admin.page import Page, object_url
from selection.errors import Refused
from selection.forecast import running_forecast
from selection.models import Run
from selection.runs import replacement

from .changes import ReasonForm


class ReplaceForm(ReasonForm):
    workers = forms.MultipleChoiceField(
        label="Selected workers to replace", widget=forms.CheckboxSelectMultiple
    )
    field_order = ("workers", "why")


class ReplacePage(Page):
    permission_required = ["selection.change_run"]
    location = ("<int:pk>/replace/", "replace")
    heading = "Replace workers of {}"
    below_object = True
    template_name = "selection/run_replace.html"

    def _build_form(self, data: Any = None) -> ReplaceForm:
        form = ReplaceForm(data, initial={"workers": self.request.GET.getlist("worker")})
        rows = [line.worker for line in reports.worker_standings(self.object) if line.selected]
        fields: dict[str, Any] = form.fields
        fields["workers"].choices = [(key, key) for key in rows]
        return form

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", self._build_form())
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = self._build_form(request.POST)
        offer = None
        if form.is_valid():
            try:
                offer = self._preview(form.cleaned_data["workers"])
                if "confirm" in request.POST:
                    return self._replace(offer, form.cleaned_data["why"])
                if "draft" in request.POST:
                    return self._draft(offer, form.cleaned_data["why"])
            except Refused as refusal:
                form.add_error(None, str(refusal))
        answers = reports.describe_answers(offer) if offer else ""
        context = self.get_context_data(form=form, offer=offer, answers=answers)
        return self.render_to_response(context)

    def _preview(self, workers: list[str]) -> reports.Replacement:
        return reports.preview_replacement(self.object, workers, running_forecast.make_forecast)

    def _replace(self, offer: reports.Replacement, why: str) -> HttpResponse:
        run: Run = self.object
        replacement.replace_workers(run, offer.leaving, offer.next_best, self.username, why)
        connectors.request_exchanges(run.pk)
        messages.success(self.request, f"Replaced by: {', '.join(offer.next_best) or 'nobody'}.")
        return redirect(object_url(run))

    def _draft(self, offer: reports.Replacement, why: str) -> HttpResponse:
        made = replacement.draft_replacement(
            self.object, offer.leaving, offer.others, self.username, why
        )
        messages.success(self.request, "The draft tests the other workers for the empty places.")
        return redirect(object_url(made))
