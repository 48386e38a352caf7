"""The page of a connection: its state, what can be read from it, and its calls."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html

from selection import connectors
from selection.accounts import scoped
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, object_url
from selection.admin.safe_lookups import parse_id
from selection.connectors import background
from selection.models import Connection, Job, Pool, QuestionSet
from selection.outbox import jobs
from selection.viewer_locale import format_count

PER_PAGE = 50


class AccountPage(JobMixin, ActionPage):
    """State, sources and calls. Sources are listed on request, since that asks the tool."""

    permission_required = ["selection.change_connection"]
    location = ("<int:pk>/calls/", "calls")
    below_object = True
    template_name = "selection/connection.html"
    title = "Projects and calls"
    job_kinds = (
        background.CHECK,
        background.SOURCES,
        background.GOLD,
        background.WORKERS,
        background.PAST,
    )

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.job is not None and self.job.kind == background.PAST and self.job.result:
            return redirect("admin:selection_run_past_result", self.job.result["replay"])
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        connection: Connection = self.object
        connector = connectors.connector_of(connection)
        page = Paginator(connection.calls.select_related("link__run"), PER_PAGE)
        finished_job = self.job if self.job is not None and self.job.result is not None else None
        listed = finished_job is not None and finished_job.kind == background.SOURCES
        return super().get_context_data(
            connector=connector,
            page=page.get_page(self.request.GET.get("page")),
            sources=finished_job.result if finished_job is not None and listed else None,
            outcome=self._describe(finished_job) if finished_job is not None and not listed else "",
            can={
                "read_gold": connector.can("read_gold"),
                "read_workers": connector.can("read_workers"),
                "read_past": connector.can("read_past") and jobs.is_performed(background.PAST),
            },
            links=connection.runs.select_related("run"),
            watches=connection.watches.select_related("watch"),
            **kwargs,
        )

    def _describe(self, job: Job) -> str:
        result: Any = job.result
        if job.kind == background.CHECK:
            return f"It works: {result['account']}"
        noun, model = ("workers", Pool) if "pool" in result else ("gold questions", QuestionSet)
        pk = result.get("pool") or result.get("question_set")
        target = scoped(model, self.request).filter(pk=pk).first()
        if target is None:
            return ""
        link = format_html('<a class="cs-link" href="{}">{}</a>', object_url(target), target)
        return format_html("{} {} were read into {}.", format_count(result["stored"]), noun, link)

    def _call(self, kind: str, permission: str = "", **wanted: Any) -> HttpResponse:
        if permission and not self.may(permission):
            raise Http404
        job = connectors.request_call(self.object, kind, self.username, **wanted)
        return follow_job(self.request, job, "#sources" if kind == background.SOURCES else "")

    def _check(self) -> HttpResponse:
        return self._call(background.CHECK)

    def _list(self) -> HttpResponse:
        return self._call(background.SOURCES)

    def _pause(self) -> None:
        connectors.pause_connection(self.object, True)
        messages.success(self.request, "Paused: nothing is sent or fetched; calls wait.")

    def _resume(self) -> None:
        connectors.pause_connection(self.object, False)
        messages.success(self.request, "The connection continues.")

    def _read_gold(self) -> HttpResponse:
        fields = {name: self.request.POST.get(name, "") for name in ("name", "source")}
        return self._call(background.GOLD, "selection.add_questionset", **fields)

    def _read_workers(self) -> HttpResponse:
        return self._call(background.WORKERS, "selection.add_pool")

    def _try_past(self) -> HttpResponse:
        source = self.request.POST.get("source", "")
        return self._call(background.PAST, "selection.add_run", source=source)

    def _repeat(self) -> None:
        rows = self.object.calls.select_related("connection", "link")
        pk = parse_id(self.request.POST.get("call", "")) or 0
        connectors.repeat_call(get_object_or_404(rows, pk=pk))
        messages.success(self.request, "The call is made again.")

    actions = {
        "check": _check,
        "sources": _list,
        "pause": _pause,
        "resume": _resume,
        "gold": _read_gold,
        "workers": _read_workers,
        "past": _try_past,
        "repeat": _repeat,
    }
