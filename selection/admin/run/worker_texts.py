"""Texts, pay and completion codes shown to a run's workers; their reports about questions."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from selection import audit
from selection.admin import styled
from selection.admin.page import FormPage, Page, object_url
from selection.models import Run
from selection.questions import problem_reports
from selection.runs import money, worker_texts
from selection.runs.worker_texts import LONGEST_CODE, OUTCOMES, PageFacts


class WorkerTextsForm(forms.Form):
    pay = styled.DecimalField(
        label="Pay per answer", required=False, min_value=0, max_digits=12, decimal_places=4
    )
    after = styled.TextField(
        label="Next steps",
        required=False,
        max_length=5000,
        attrs={"rows": 4},
        help_text="Shown at the end, in Markdown: for example payment date and contact.",
    )

    def __init__(self, run: Run, *args: Any) -> None:
        facts = PageFacts.from_run(run)
        super().__init__(*args)
        self.initial = {"pay": facts.pay, "after": facts.after}
        self.initial |= {f"code_{outcome}": code for outcome, code in facts.codes.items()}
        price = "" if run.price is None else f" (Your cost per answer: {money.format_price(run)}.)"
        self.fields["pay"].help_text = (
            f"In {run.currency or 'the run’s currency'}. Shown to workers with their earnings, and "
            f"used for the payment list. Leave blank to hide pay.{price}"
        )
        for outcome, when in OUTCOMES.items():
            self.fields[f"code_{outcome}"] = styled.CharField(
                label=f"Completion code: {when}",
                required=False,
                max_length=LONGEST_CODE,
                attrs={"placeholder": worker_texts.generated_code(run, outcome)},
                help_text="Leave blank for the code shown here.",
            )

    def facts(self) -> PageFacts:
        cleaned = self.cleaned_data
        codes: dict[str, str] = {outcome: cleaned[f"code_{outcome}"] for outcome in OUTCOMES}
        return PageFacts(cleaned["pay"], codes, cleaned["after"])


class WorkerTextsPage(FormPage):
    permission_required = ["selection.change_run"]
    location = ("<int:pk>/told/", "told")
    heading = "Worker messages and pay of {}"
    below_object = True
    template_name = "selection/told.html"

    def build_form(self, *data: Any) -> WorkerTextsForm:
        return WorkerTextsForm(self.object, *data)

    def apply_form(self, form: WorkerTextsForm) -> HttpResponse:
        worker_texts.change_facts(self.object, form.facts(), self.username)
        messages.success(self.request, "The worker messages are saved.")
        return redirect(object_url(self.object))


class AcknowledgePage(Page):
    """A button that marks the reports about a question as handled."""

    permission_required = ["selection.change_question"]
    location = ("<int:pk>/heard/", "heard")
    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if count := problem_reports.acknowledge_reports(self.object):
            audit.record_entry("heard", self.object, after={"reports": count})
        return redirect(object_url(self.object))
