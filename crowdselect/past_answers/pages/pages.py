"""Try it on past answers: the form, the result while it is played, and the parts that are kept."""

from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from crowdselect.past_answers import keeping, replay_requests, results
from crowdselect.past_answers.models import Replay
from crowdselect.past_answers.result_texts import result_context
from selection.accounts import MEMBER, scoped
from selection.admin.imports.column_form import ColumnForm
from selection.admin.page import ActionPage, FormPage, Page, object_url
from selection.errors import Refused
from selection.imports.column_plan import ColumnPlan
from selection.imports.open_columns import OpenColumns

from . import replay_chart
from .form import PERMISSION, PastForm, build_results_form

TITLE = "Try it on past answers"


class PastPage(FormPage):
    permission_required = [PERMISSION]
    location = ("past/", "past")
    template_name = "past_answers/past.html"
    title = TITLE
    object: Any = None

    def build_form(self, *data: Any) -> PastForm:
        query = self.request.GET
        initial = {name: query[name] for name in PastForm.base_fields if name in query}
        return PastForm(*data, request=self.request, initial=initial)

    def apply_form(self, form: PastForm) -> HttpResponse:
        replay = replay_requests.request_replay(
            form.source, form.wanted, form.team, self.username, may_ask=True
        )
        return redirect("admin:selection_run_past_result", replay.pk)


class ReplayPage(Page):
    permission_required = [PERMISSION]

    @cached_property
    def object(self) -> Replay:
        replays = scoped(Replay, self.request, MEMBER).defer("content")
        replay: Replay = get_object_or_404(replays, pk=self.kwargs["replay"])
        return replay

    def crumbs(self) -> list[tuple[str, str]]:
        return [(TITLE, reverse("admin:selection_run_past"))]


class ColumnsPage(ReplayPage):
    """The columns of a file that were not recognised."""

    location = ("past/<uuid:replay>/columns/", "past_columns")
    template_name = "past_answers/columns.html"
    title = "Assign columns"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.has_permission() and self.object.state != Replay.State.ASKING:
            return redirect("admin:selection_run_past_result", self.object.pk)
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        columns = self._open_columns()
        if columns.choices or columns.faults:
            return self._render_choices(columns)
        return self._render_form(columns, ColumnForm(columns.plan, columns.head))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "cancel" in request.POST:
            settings = self.object.goal
            query = {"k": settings["k"], "precise": settings["epsilon"], "sure": settings["delta"]}
            self.object.delete()
            return redirect(f"{reverse('admin:selection_run_past')}?{urlencode(query)}")
        columns = self._open_columns()
        if columns.choices or columns.faults:
            return self._choose(columns)
        form = ColumnForm(columns.plan, columns.head, request.POST)
        row = form.chosen_header_row()
        if row or form.is_valid():
            plan = ColumnPlan(columns.plan.kind, header=row) if row else form.plan()
            try:
                replay_requests.choose_columns(self.object, columns.role, plan)
                return redirect("admin:selection_run_past_result", self.object.pk)
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self._render_form(columns, form)

    def _choose(self, found: OpenColumns) -> HttpResponse:
        """Take the chosen results, or leave out the rows with an error."""
        names = [choice.name for choice in found.choices if choice.name in self.request.POST]
        picked = {name: self.request.POST[name] for name in names}
        before = self.object.wanted[replay_requests.PICKED]
        chosen: dict[str, Any] = {replay_requests.PICKED: before | picked}
        if found.faults:
            chosen = {replay_requests.LEAVE_OUT: True}
        try:
            replay_requests.choose(self.object, chosen)
        except Refused as refusal:
            return self._render_choices(found, str(refusal))
        return redirect("admin:selection_run_past_result", self.object.pk)

    def _render_choices(self, found: OpenColumns, error: str = "") -> HttpResponse:
        title = "Rows with an error" if found.faults else "Choose results"
        form = build_results_form(found.choices)
        context = self.get_context_data(found=found, form=form, error=error) | {"title": title}
        return TemplateResponse(self.request, "past_answers/choices.html", context)

    def _open_columns(self) -> OpenColumns:
        columns = replay_requests.find_replay_columns(self.object)
        assert columns is not None  # else it would not wait
        return columns

    def _render_form(self, found: OpenColumns, form: ColumnForm) -> HttpResponse:
        return self.render_to_response(
            self.get_context_data(found=found, form=form, plan=found.plan, head=found.head)
        )


class ResultPage(ReplayPage, ActionPage):
    location = ("past/<uuid:replay>/", "past_result")
    template_name = "past_answers/result.html"
    title = "How many of these answers would have been enough?"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.object.state == Replay.State.ASKING:
            return redirect("admin:selection_run_past_columns", self.object.pk)
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        replay, result = self.object, results.build_result(self.object)
        charts = (
            replay_chart.draw_charts(result.methods, result.answers, replay.goal["epsilon"])
            if result.methods
            else []
        )
        return super().get_context_data(
            **kwargs,
            replay=replay,
            percent=round(100 * replay.progress),
            charts=charts,
            **result_context(replay, result),
        )

    def _keep_pool(self) -> HttpResponse:
        pool = keeping.create_pool(self.object)
        messages.success(
            self.request, f"Pool “{pool}” created, with the workers and their past accuracy."
        )
        return redirect(object_url(pool))

    def _keep_draft(self) -> HttpResponse:
        name = self.request.POST.get("algorithm", "")
        run = keeping.create_draft(self.object, name, self.username)
        messages.success(
            self.request,
            "Draft run created. The workers have seen its questions. Before you start it, add new "
            "gold questions or import recorded answers.",
        )
        return redirect(object_url(run))

    def _delete(self) -> HttpResponse:
        self.object.delete()
        messages.success(self.request, "Answers and result deleted.")
        return redirect("admin:selection_run_past")

    actions = {"pool": _keep_pool, "draft": _keep_draft, "delete": _delete}


PAST_PAGES = (PastPage, ResultPage, ColumnsPage)
