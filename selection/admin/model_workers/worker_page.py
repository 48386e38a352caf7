"""Page of a worker that is a model: its settings, and test calls."""

import json
from copy import copy
from functools import cached_property, partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from unfold.widgets import UnfoldAdminSelectWidget

from selection.accounts import scoped
from selection.admin import styled
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, object_url
from selection.errors import Refused
from selection.limits import LONGEST_KEY
from selection.model_workers import askable, changes, endpoints, price_list, testing
from selection.model_workers.adjustments import describe_server
from selection.model_workers.prices import to_amount
from selection.models import Endpoint, ModelServer, QuestionSet
from selection.runs.money import format_call_cost

CHANGE = "selection.change_worker"
LABELS = {
    "max_tokens": "Most output tokens",
    "max_completion_tokens": "Most output tokens, as max_completion_tokens",
    "extra_body": "Further parameters of the request",
    "timeout": "Seconds to wait for a reply",
    "structured": "Ask for JSON that has one of the choices",
    "parsing": "Answer in the reply",
    "pattern": "Regular expression",
    "unreadable": "A reply without a readable answer",
    "reuse": "Use a stored reply to an equal request also at a temperature above 0",
    "price_in": "Price of a million input tokens",
    "price_out": "Price of a million output tokens",
    "price_call": "Price of a call",
}
HELP = {
    "template": "Blank: instructions, question, choices and the form of the answer. "
    "It may have {instructions}, {question}, {choices} and {request}.",
    "temperature": "Blank: the server's own.",
    "max_completion_tokens": "In place of the above, as newer models of OpenAI demand.",
    "reasoning_effort": "For example low; blank: the server's own.",
    "extra_body": "For example {“top_p”: 0.9}.",
    "pattern": "Only for an answer that is read by one; its first group is the answer.",
    "price_in": "In the currency of the run.",
}


class CallTestForm(forms.Form):
    question_set = styled.ModelChoiceField(
        label="Question set", queryset=QuestionSet.objects.none()
    )
    question = styled.CharField(
        label="Question",
        required=False,
        max_length=LONGEST_KEY,
        attrs={"placeholder": "Its id; blank: the first one"},
    )


class WorkerModelPage(JobMixin, ActionPage):
    """The settings of a worker's model. ``do`` is save, price, test or remove."""

    permission_required = ["selection.view_worker"]
    location = ("<int:pk>/model/", "model")
    below_object = True
    template_name = "selection/worker_model.html"
    title = "Model of this worker"
    job_kinds = (testing.TEST_CALL,)

    @cached_property
    def endpoint(self) -> Endpoint:
        rows = scoped(Endpoint, self.request).filter(worker=self.object)
        return get_object_or_404(rows.select_related("server", "worker__pool"))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", self._settings_form())
        kwargs.setdefault("test_form", self._test_form())
        facts = {"endpoint": self.endpoint, "may_change": self.may(CHANGE)}
        facts["notice"] = describe_server(self.endpoint)
        prices = price_list.find_missing_prices(self.endpoint)
        facts["published"] = price_list.describe_prices(prices)
        facts["price_source"] = price_list.SOURCE
        return super().get_context_data(**facts, **self._test_facts(), **kwargs)

    def _test_facts(self) -> dict[str, Any]:
        result: Any = self.job.result if self.job is not None else None
        rows = self.object.model_calls.select_related("question")
        call = rows.filter(pk=result["call"]).first() if result else None
        if call is None:
            return {}
        body = json.dumps(json.loads(result["request"]), ensure_ascii=False, indent=2)
        return {"call": call, "cost": format_call_cost(to_amount(call.cost)), "body": body}

    def _settings_form(self, data: Any = None) -> forms.ModelForm:
        """Build a form over a copy of the endpoint: it must not change the page's own."""
        widgets = partial(self.model_admin.formfield_for_dbfield, request=self.request)
        kind = forms.modelform_factory(
            Endpoint,
            fields=["server", *endpoints.ENDPOINT_FIELDS],
            field_classes={"extra_body": styled.JSONField},
            formfield_callback=widgets,
            labels=LABELS,
            help_texts=HELP,
        )
        form = kind(data, instance=copy(self.endpoint))
        servers = scoped(ModelServer, self.request).filter(team=self.object.pool.team_id)
        if columns := askable.list_columns(self.object.pool.team_id):
            names = ", ".join(f"{{{name}}}" for name in columns)
            form.fields["template"].help_text += f" Columns of question sets: {names}."
        server: Any = form.fields["server"]
        server.queryset, server.widget = servers, UnfoldAdminSelectWidget()
        server.widget.choices = server.choices
        return form

    def _test_form(self, data: Any = None) -> CallTestForm:
        form = CallTestForm(data)
        field: Any = form.fields["question_set"]
        field.queryset = scoped(QuestionSet, self.request).filter(team=self.object.pool.team_id)
        field.initial = field.queryset.first()
        return form

    def has_permission(self) -> bool:
        needs_change = self.request.method == "POST"
        return super().has_permission() and (not needs_change or self.may(CHANGE))

    def _show(self, **context: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(**context))

    def _save(self) -> HttpResponse:
        form = self._settings_form(self.request.POST)
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in endpoints.ENDPOINT_FIELDS}
            try:
                changes.change_endpoint(self.endpoint, values, form.cleaned_data["server"])
            except endpoints.FieldRefused as refusal:
                form.add_error(refusal.field, refusal.why)
            except Refused as refusal:
                form.add_error(None, str(refusal))
            else:
                messages.success(self.request, "Saved: the next calls use these settings.")
                return redirect(self.request.path)
        return self._show(form=form)

    def _take_price(self) -> HttpResponse:
        """Set the published prices, as long as the model has none."""
        if prices := price_list.find_missing_prices(self.endpoint):
            try:
                changes.change_endpoint(self.endpoint, prices)
            except Refused as refusal:
                messages.error(self.request, str(refusal))
                return redirect(self.request.path)
            words = price_list.describe_prices(prices)
            messages.success(self.request, f"The price is {words} ({price_list.SOURCE}).")
        return redirect(self.request.path)

    def _test(self) -> HttpResponse:
        form = self._test_form(self.request.POST)
        if not form.is_valid():
            return self._show(test_form=form)
        chosen = form.cleaned_data
        try:
            question = testing.choose_question(chosen["question_set"], chosen["question"].strip())
            job = testing.request_test_call(self.endpoint, question, self.username)
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self._show(test_form=form)
        return follow_job(self.request, job, "#test")

    def _remove(self) -> HttpResponse:
        changes.remove_endpoint(self.endpoint)
        messages.success(self.request, f"“{self.object}” is not a model any more.")
        return redirect(object_url(self.object))

    actions = {"save": _save, "price": _take_price, "test": _test, "remove": _remove}
