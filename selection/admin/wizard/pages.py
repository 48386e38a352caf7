"""The guided start: the form, the forecast of each algorithm, and a draft made of one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from selection import reports
from selection.accounts import MEMBER, scoped
from selection.admin.job_page import find_named_job
from selection.admin.page import ActionPage, FormPage, Page, list_url, object_url
from selection.algorithms import COMMON_ORDER, describe_missing_forecast
from selection.charts import cost_curves
from selection.errors import Refused
from selection.facts import Facts
from selection.forecast import Forecast, Plan, budget, forecast_requests
from selection.forecast.mark_cost import describe_mark_cost
from selection.model_workers.askable import has_models_only
from selection.models import ForecastRequest, Run
from selection.outbox import jobs
from selection.runs.roster import eligibility, worker_prices
from selection.runs.settings import drafts, guarantee_texts
from selection.runs.settings.run_settings import SETTINGS
from selection.texts import count_noun
from selection.viewer_locale import format_figure

from . import forecast_rows
from .choices import ALGORITHM_OF_NEED, MARK
from .forecast_rows import arrange_rows
from .form import (
    LONGEST_ADDRESS,
    DraftForm,
    GuideForm,
    WizardInput,
    draft_of_plan,
    find_lasting_faults,
)
from .plan_input import plans_agree


class GuidePage(Page):
    permission_required = ["selection.add_run"]
    template_name = "selection/guide.html"

    def _bound_form(self, *args: Any, **kwargs: Any) -> GuideForm:
        return GuideForm(*args, request=self.request, **kwargs)


class BeginPage(GuidePage, FormPage):
    """The form; an address with a query prefills it."""

    location = ("begin/", "begin")
    title = "New run"
    object: Any = None

    def build_form(self, *data: Any) -> GuideForm:
        initial = {} if data else self.request.GET.dict()
        return self._bound_form(*data, initial=initial, past=self._past_answers)

    def apply_form(self, form: GuideForm) -> HttpResponse:
        wish, query = form.wish, QueryDict(form.address(), mutable=True)
        if self.request.POST.get("do") == "draft":
            return redirect(object_url(self._create_draft(wish)))
        if wish.further:
            raise Refused("Several question sets have no estimate: create the draft without one.")
        if len(query.urlencode()) > LONGEST_ADDRESS:
            raise Refused(
                "The lists of workers are too long for an estimate: create the draft without one."
            )
        plan = wish.plan
        if wish.by_money:
            plan = plan.replace_epsilon(budget.first_epsilon(plan, wish.belief))
            query["precise_own"] = format_figure(100 * plan.epsilon)
        team = wish.pool.team_id
        job = forecast_requests.request_forecast(plan, wish.belief, self.username, team=team)
        return redirect(forecast_url(job, query.urlencode()))

    def _create_draft(self, wish: WizardInput) -> Run:
        """Create the draft without an estimate, with the algorithm that the goal asks for."""
        settings = _settings_of_wish(wish.plan, wish, {})
        if wish.algorithm or not has_models_only(wish.pool):
            settings["algorithm"] = wish.algorithm or ALGORITHM_OF_NEED[wish.need]
        settings = drafts.default_for_models(settings)
        said = "Created without an estimate."
        run = drafts.create_draft(settings, wish.further, said, self.username)
        messages.success(self.request, "Draft created. No worker is contacted before the start.")
        return run

    @cached_property
    def _past_answers(self) -> Any:
        """The belief that a forecast took from files, when its form is filled in again."""
        rows = scoped(ForecastRequest, self.request)
        job = find_named_job(self.request, rows, "forecast")
        return forecast_requests.stored_belief(job) if job else None

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form: GuideForm = kwargs.pop("form", None) or self.build_form()
        return super().get_context_data(
            **kwargs,
            form=form,
            pools=form.pools.exists(),
            question_sets=form.question_sets.exists(),
            back=list_url(Run),
        )


class DraftPage(GuidePage, FormPage):
    """The form again, with the settings of a stored draft."""

    permission_required = ["selection.change_run"]
    location = ("<int:pk>/change/", "change")
    heading = "Edit {}"
    below_object = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.object.status != Run.Status.DRAFT:
            messages.info(request, "A started run cannot be edited here.")
            return redirect(object_url(self.object))
        return super().dispatch(request, *args, **kwargs)

    def build_form(self, *data: Any) -> DraftForm:
        return DraftForm(*data, draft=self.object, request=self.request)

    def apply_form(self, form: DraftForm) -> HttpResponse:
        drafts.replace_draft(self.object, form.wanted, form.further, self.username)
        messages.success(self.request, "The run is saved. No questions are sent before the start.")
        return redirect(object_url(self.object))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        facts = {"draft": self.object, "pools": True, "question_sets": True}
        return super().get_context_data(**kwargs, **facts, back=object_url(self.object))


def forecast_url(job: ForecastRequest, query: str) -> str:
    return reverse("admin:selection_run_forecast", args=[job.pk]) + f"?{query}"


class ForecastPage(GuidePage, ActionPage):
    """The forecast of each algorithm's cost. The address holds the form's content."""

    location = ("forecast/<uuid:pk>/", "forecast")
    title = "Cost estimate"
    template_name = "selection/forecast.html"

    @cached_property
    def object(self) -> ForecastRequest:
        return get_object_or_404(
            scoped(ForecastRequest, self.request, MEMBER), pk=self.kwargs["pk"]
        )

    def crumbs(self) -> list[tuple[str, str]]:
        return [("Back to settings", self._settings_url())]

    def _settings_url(self) -> str:
        query = self.request.GET.copy()
        query["forecast"] = str(self.object.pk)
        return f"{reverse('admin:selection_run_begin')}?{query.urlencode()}"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        forecast_requests.touch_forecast(self.object)
        return self.render_to_response(self.get_context_data())

    @cached_property
    def wish(self) -> WizardInput | None:
        """The form's content in the address; None if it no longer fits the forecast."""
        form = self._bound_form(self.request.GET, past=forecast_requests.stored_belief(self.object))
        return form.wish if form.is_valid() else None

    @cached_property
    def rows(self) -> list[Forecast]:
        return forecast_requests.forecast_rows(self.object)

    @cached_property
    def pace(self) -> Facts | None:
        """Throughput of the pool's last run, if the requester gave no speed."""
        return (
            reports.pool_throughput(self.wish.pool) if self.wish and not self.wish.speed else None
        )

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        job, wish, plan = self.object, self.wish, forecast_requests.stored_plan(self.object)
        curves = forecast_requests.forecast_curves(job)
        timed = replace(wish, speed=self.pace.an_hour) if wish and self.pace else wish
        return super().get_context_data(
            **kwargs,
            job=job,
            plan=plan,
            wish=wish,
            timed=timed,
            pace=self.pace,
            stale=wish is not None and not plans_agree(wish.plan, plan),
            belief=forecast_requests.stored_belief(job).words,
            mark=guarantee_texts.describe_shown(mark, plan.epsilon if plan.goal == MARK else 0)
            if (mark := plan.mark) is not None
            else "",
            mark_cost=describe_mark_cost(mark, plan.workers, plan.delta)
            if wish and plan.goal != MARK and mark
            else "",
            percent=round(100 * job.progress),
            **self._method_texts(plan, timed),
            charts=[
                chart
                for name in curves
                if (chart := cost_curves.draw_curve(name, curves[name], plan))
            ],
            reach=_reachable_epsilon(curves["epsilon"], self.methods.best, plan.epsilon)
            if wish and wish.by_money and self.methods.best
            else None,
            spend=_describe_budget(wish),
            settings_url=self._settings_url(),
            query=self.request.GET.urlencode(),
        )

    @cached_property
    def methods(self) -> Facts:
        wish = self.wish
        if wish is None:
            return arrange_rows(self.rows, "group")
        models = has_models_only(wish.pool)
        return arrange_rows(self.rows, wish.need, self._refused(wish), models, wish.algorithm)

    def _refused(self, wish: WizardInput) -> set[str]:
        """Find the algorithms with which saving would refuse the draft."""
        workers, refused = None, set()
        for name in {row.algorithm for row in self.rows}:
            settings = wish.settings | {"options": {}}
            run = draft_of_plan(wish.plan, settings, wish.pool, wish.question_set, name)
            workers = eligibility.count_eligible(run) if workers is None else workers
            refused |= {name} if find_lasting_faults(run, workers) else set()
        return refused

    def _method_texts(self, plan: Plan, timed: WizardInput | None) -> dict[str, Any]:
        table = self.methods
        best = table.best
        absent = forecast_requests.forecast_no_shows(self.object)
        without = absent.get((best.algorithm, best.title)) if best else None
        rules, others = (
            [forecast_rows.row_of_wish(row, timed) for row in rows]
            for rows in (table.rules, table.others)
        )
        return {
            "best": forecast_rows.row_of_wish(best, timed) if best else None,
            "rules": rules,
            "others": others,
            "no_shows": forecast_rows.no_show_texts(plan, without, timed),
            "basis": worker_prices.describe_basis(timed.price, timed.currency) if timed else "",
            "no_show_hours": SETTINGS["hours_to_come"].default,
            "common_order": describe_missing_forecast(COMMON_ORDER)
            if self.wish and has_models_only(self.wish.pool)
            else "",
        }

    # -- buttons

    def redirect_back(self) -> HttpResponse:
        return self._redirect_to(self.object)

    def _redirect_to(self, job: ForecastRequest, query: str | None = None) -> HttpResponseRedirect:
        query = self.request.GET.urlencode() if query is None else query
        return redirect(forecast_url(job, query))

    def _stop_forecast(self) -> HttpResponse:
        jobs.cancel_job(self.object)
        return self._redirect_to(self.object)

    def _go_on(self) -> HttpResponse:
        jobs.resume_job(self.object)
        return self._redirect_to(self.object)

    def _use_reachable_epsilon(self) -> HttpResponse:
        try:
            plan = forecast_requests.stored_plan(self.object).replace_epsilon(
                float(self.request.POST.get("epsilon", ""))
            )
        except ValueError:
            raise Http404 from None
        query = self.request.GET.copy()
        query["precise_own"] = format_figure(100 * plan.epsilon)
        belief, team = forecast_requests.stored_belief(self.object), self.object.team_id
        job = forecast_requests.request_forecast(plan, belief, self.username, team=team)
        return self._redirect_to(job, query.urlencode())

    def _make(self) -> HttpResponse:
        key, wish = self.request.POST.get("row", ""), self.wish
        row = next((row for row in self.rows if forecast_rows.key_of(row) == key), None)
        plan = forecast_requests.stored_plan(self.object)
        if row is None or wish is None or not plans_agree(wish.plan, plan):
            raise Refused("The pool or the question set has changed. Estimate the cost again.")
        settings = _settings_of_row(row, self.object, wish)
        origin = f"Created from a cost estimate, with {row.title}."
        run = drafts.create_draft(settings, said=origin, who=self.username)
        messages.success(self.request, "Draft created. No worker is contacted before the start.")
        return redirect(object_url(run))

    actions = {"make": _make, "stop": _stop_forecast, "go on": _go_on, "at": _use_reachable_epsilon}


def _describe_budget(wish: WizardInput | None) -> str:
    if wish is None or wish.plan.budget is None:
        return ""
    cost = worker_prices.format_price(wish.plan.budget, wish.price, wish.currency)
    return cost or count_noun(wish.plan.budget, "answer")


def _reachable_epsilon(
    points: Sequence[Mapping[str, Any]], best: Forecast, planned: float
) -> dict[str, Any]:
    """Find the least ε that the recommended algorithm reaches within the budget.

    ``epsilon`` is None if it reaches none; ``tried`` is True if other ε than the plan's were
    simulated.
    """
    curve = [point for point in points if point["title"] == best.title]
    reached = [point["at"] for point in curve if point["feasible"]] + (
        [planned] if best.feasible else []
    )
    epsilon = min(reached, default=None)
    return {
        "epsilon": epsilon,
        "points": format_figure(100 * (epsilon or 0)),
        "tried": len(curve) > 1,
    }


def _settings_of_wish(plan: Plan, wish: WizardInput, options: dict[str, Any]) -> dict[str, Any]:
    options = wish.settings["options"] | options
    fitting = {
        "name": drafts.free_name(_name_run(plan, wish), wish.pool.team_id),
        "met": eligibility.default_met_policy(options),
    }
    given = {"pool": wish.pool, "question_set": wish.question_set, "k": plan.k}
    given |= {"epsilon": plan.epsilon, "delta": plan.delta, "budget": plan.budget}
    return fitting | wish.settings | given | {"options": options}


def _settings_of_row(row: Forecast, job: ForecastRequest, wish: WizardInput) -> dict[str, Any]:
    plan = forecast_requests.stored_plan(job)
    filled = ("questions", "mark")
    options = {name: value for name, value in row.options.items() if name not in filled}
    return _settings_of_wish(plan, wish, options) | {
        "algorithm": row.algorithm,
        "belief": job.wanted["belief"],
    }


def _name_run(plan: Plan, wish: WizardInput) -> str:
    return f"{'Best' if wish.settings['pass_mark'] is None else 'Up to'} {plan.k} of {wish.pool}"


GUIDE_PAGES = (BeginPage, DraftPage, ForecastPage)
