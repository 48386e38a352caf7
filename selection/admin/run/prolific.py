"""A run on Prolific: its draft study, a dry run, submissions and bonuses."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from selection import connectors, exports
from selection.admin import styled
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import Page
from selection.connectors import background
from selection.connectors.platforms import prolific
from selection.connectors.views import message_address
from selection.errors import Refused
from selection.models import RunConnection
from selection.worker import links


class TotalForm(forms.Form):
    """The amount that a person confirms, as the page showed it."""

    total = styled.DecimalField(max_digits=12, decimal_places=2)


class ProlificPage(JobMixin, Page):
    permission_required = ["selection.change_run"]
    location = ("<int:pk>/prolific/", "prolific")
    heading = "{} on Prolific"
    below_object = True
    template_name = "selection/prolific.html"
    job_kinds = (background.DRY_RUN,)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        try:
            link = prolific.find_link(self.object)
        except Refused as refusal:
            return super().get_context_data(refusal=refusal, **kwargs)
        proposal, lack = self._proposal(link)
        result = self.job.result if self.job is not None else None
        return super().get_context_data(
            **kwargs,
            link=link,
            study=link.memory.get("study", ""),
            groups=link.memory.get("groups", {}),
            submissions=sorted(prolific.count_submissions(link).items()),
            batches=prolific.list_batches(link),
            proposal=proposal,
            lack=lack,
            planned=None if result is None else [_describe_call(one) for one in result],
        )

    def _proposal(self, link: RunConnection) -> tuple[prolific.Batch | None, str]:
        try:
            return prolific.propose_bonuses(link, exports.prolific_amounts(self.object)), ""
        except Refused as refusal:
            return None, str(refusal)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        actions: dict[str, Callable[[RunConnection], str]] = {
            "study": self._create_study,
            "messages": self._subscribe_messages,
            "pay": self._confirm_bonuses,
            "paid": self._settle_bonuses,
            "unpaid": self._settle_bonuses,
        }
        action = request.POST.get("do", "")
        try:
            link = prolific.find_link(self.object)
            if action == "plan":
                return self._show_plan(link)
            if action not in actions:
                raise Http404
            messages.success(request, actions[action](link))
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect(request.path)

    def _show_plan(self, link: RunConnection) -> HttpResponseBase:
        due = exports.find_prolific_amounts(self.object)
        url = links.prolific_address(self.object)
        job = connectors.request_dry_run(link, url, due, self.username)
        return follow_job(self.request, job, "#planned")

    def _create_study(self, link: RunConnection) -> str:
        prolific.request_study(link, links.prolific_address(self.object))
        return "The draft study is being created. Publish the study on Prolific."

    def _subscribe_messages(self, link: RunConnection) -> str:
        prolific.request_messages(link, message_address(link))
        return "Prolific will send messages about submissions."

    def _confirm_bonuses(self, link: RunConnection) -> str:
        form = TotalForm(self.request.POST)
        total = form.cleaned_data["total"] if form.is_valid() else Decimal(-1)
        due = exports.prolific_amounts(self.object)
        batch = prolific.confirm_bonuses(link, due, total, self.username)
        return f"Bonuses of {batch.total} are being paid."

    def _settle_bonuses(self, link: RunConnection) -> str:
        paid = self.request.POST["do"] == "paid"
        batch = self.request.POST.get("batch", "")
        prolific.settle_bonuses(link, batch, paid, self.username)
        return "The result of the payment is saved."


def _describe_call(call: dict[str, Any]) -> dict[str, str]:
    return {"call": f"{call['method']} /{call['path']}", "body": _format_body(call["body"])}


def _format_body(body: Any) -> str:
    return "" if body is None else json.dumps(body, indent=2, ensure_ascii=False)
