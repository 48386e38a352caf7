"""Calls and money of a run: a section of its page, its ledger, and the check of its models."""

from decimal import Decimal
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from selection import reports
from selection.admin import styled
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, Page, object_url
from selection.errors import Refused
from selection.model_workers import spending, unreadable
from selection.model_workers.prices import to_amount
from selection.models import Endpoint, Job, ModelCall, Run
from selection.runs import unreadable_models
from selection.runs.money import format_call_cost
from selection.runs.roster import model_checks
from selection.texts import count_noun
from selection.viewer_locale import format_plain

LATEST, PER_PAGE = 10, 50


class LimitForm(forms.Form):
    limit = styled.DecimalField(
        required=False, min_value=0, max_value=spending.MOST_LIMIT, decimal_places=9, max_digits=17
    )


def model_facts(run: Run) -> dict[str, Any]:
    if not spending.has_models(run):
        return {"models": None}
    limit = spending.read_limit(run)
    draft = run.status == Run.Status.DRAFT
    return {
        "models": {
            "limit_value": "" if limit is None else format_plain(limit.normalize()),
            "replies": unreadable.count_replies(run),
            "asking": unreadable.list_asking(run),
            "ways": unreadable_models.WAYS,
            "rules": Endpoint.Parsing.choices,
            "failing": spending.failing_endpoints(run) if run.status != Run.Status.ENDED else [],
            "notices": spending.list_notices(run),
            "calls": describe_calls(run, calls_of(run)[:LATEST]),
            "number": run.model_calls.count(),
            "url": ledger_url(run),
            "check": _find_job(run, model_checks.CHECK) if draft else None,
            "rereading": None if draft else _find_job(run, unreadable_models.REREAD),
        }
    }


def _find_job(run: Run, kind: str) -> Job | None:
    rows = Job.objects.filter(kind=kind, subject=run.pk, team=run.team_id)
    return rows.order_by("-created").first()


def format_spending(run: Run) -> dict[str, str | None] | None:
    if not spending.has_models(run):
        return None
    return {
        name: None if value is None else format_call_cost(value, run.currency)
        for name, value in vars(reports.forecast_spending(run)).items()
    }


def calls_of(run: Run) -> QuerySet[ModelCall]:
    return run.model_calls.select_related("worker", "question").order_by("-pk")


def describe_calls(run: Run, calls: Any) -> list[tuple[ModelCall, str]]:
    return [(call, format_call_cost(to_amount(call.cost), run.currency)) for call in calls]


def ledger_url(run: Run) -> str:
    return reverse("admin:selection_run_calls", args=[run.pk])


class RunCalls(Page):
    """All calls of a run, latest first; POST changes the limit of its money."""

    permission_required = ["selection.view_run", "selection.view_modelcall"]
    location = ("<int:pk>/calls/", "calls")
    heading = "Calls of {}"
    below_object = True
    template_name = "selection/run_calls.html"

    def has_permission(self) -> bool:
        if self.request.method == "POST":
            return self.may("selection.change_run")
        return super().has_permission()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run: Run = self.object
        state = self.request.GET.get("state", "")
        rows = calls_of(run)
        if state in ModelCall.State.values:
            rows = rows.filter(state=state)
        page = Paginator(rows, PER_PAGE).get_page(self.request.GET.get("page"))
        return super().get_context_data(
            run=run,
            page=page,
            calls=describe_calls(run, page),
            state=state,
            states=ModelCall.State,
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "way" in request.POST:
            return self._settle(request)
        form = LimitForm(request.POST)
        try:
            if not form.is_valid():
                raise Refused(f"The limit: {form.errors['limit'][0]}")
            spending.set_limit(self.object, form.cleaned_data["limit"])
        except Refused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, "The limit of the money for calls is changed.")
        return redirect(f"{object_url(self.object)}#models")

    def _settle(self, request: HttpRequest) -> HttpResponse:
        rule, pattern = (request.POST.get(name, "") for name in ("parsing", "pattern"))
        try:
            if rule not in Endpoint.Parsing.values:
                raise Refused("Choose how the answer is read from the reply.")
            way, who = request.POST["way"], request.user.get_username()
            if way == unreadable_models.REREAD:
                unreadable_models.request_reread(self.object, rule, pattern, who)
            else:
                messages.success(request, unreadable_models.settle(self.object, way, who=who))
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect(f"{object_url(self.object)}#models")


class CheckModelsPage(JobMixin, ActionPage):
    """One test call of each model of a draft. ``do`` is check, or leave: out, the models named."""

    permission_required = ["selection.view_run", "selection.view_worker"]
    location = ("<int:pk>/models/", "models")
    heading = "Check the models of {}"
    below_object = True
    template_name = "selection/run_check.html"
    job_kinds = (model_checks.CHECK,)

    @cached_property
    def job(self) -> Job | None:
        """Latest check, also one of another member."""
        return _find_job(self.object, model_checks.CHECK)

    def has_permission(self) -> bool:
        needs_change = self.request.method == "POST"
        return super().has_permission() and (not needs_change or self.may("selection.change_run"))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run, result = self.object, self.job and self.job.result
        models = list(model_checks.list_models(run))
        staying = {model.worker_id for model in models}
        rows = [row for row in result["models"] if row["id"] in staying] if result else []
        for row in rows:
            row["price"] = format_call_cost(Decimal(str(row["cost"])), run.currency)
        return super().get_context_data(
            run=run,
            models=models,
            price=format_call_cost(model_checks.most_price(run, models), run.currency),
            rows=rows,
            broken=[row for row in rows if not row["good"]],
            **kwargs,
        )

    def _check(self) -> HttpResponse:
        return follow_job(self.request, model_checks.request_check(self.object, self.username))

    def _leave(self) -> HttpResponse:
        keys = self.request.POST.getlist("worker")
        model_checks.leave_out(self.object, keys, self.username)
        messages.success(
            self.request,
            f"{count_noun(len(keys), 'model')} left out. To take one back, edit the excluded "
            "workers in the draft’s settings.",
        )
        return redirect(self.request.path)

    actions = {"check": _check, "leave": _leave}
