"""The page on which a watch is joined to a tool that takes its gold questions."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from selection import connectors
from selection.accounts import scoped
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, object_url
from selection.admin.safe_lookups import parse_id
from selection.connectors import background
from selection.errors import Refused
from selection.models import Connection, Job, OutsideTask, Watch, WatchConnection

from . import fields, run_page

State = OutsideTask.State


def describe_link(link: WatchConnection) -> dict[str, Any]:
    tasks = link.gold_tasks.all()
    return {
        "link": link,
        "connector": connectors.connector_of(link.connection),
        "problems": [one for one in (link.connection.problem, link.problem) if one],
        "notes": link.memory.get("notes", []),
        "by_hand": connectors.list_by_hand(link),
        "tasks": [
            ("open there", tasks.filter(state=State.SENT).count()),
            ("answered", tasks.filter(state=State.ANSWERED).count()),
        ],
        "paused": link.members.filter(pause="paused").count(),
    }


class GoldPlacePage(JobMixin, ActionPage):
    """The connections of a watch; ?connection=ID has the form to use one."""

    permission_required = ["selection.change_watch", run_page.CONNECT]
    location = ("<int:pk>/where/", "where")
    below_object = True
    template_name = "selection/watch_where.html"
    title = "Where gold questions appear"
    job_kinds = (background.SOURCES, background.CONNECT_WATCH)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = self._chosen()
        if "form" not in kwargs and chosen is not None:
            kwargs["form"] = self._build_form(chosen)()
        links = connectors.list_watch_links(self.object)
        return super().get_context_data(
            used=[describe_link(link) for link in links],
            others=[] if links or self.object.stopped else self._list_connections(),
            chosen=chosen,
            **kwargs,
        )

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        job, chosen = self.job, self._chosen()
        if job and chosen and job.kind == background.CONNECT_WATCH and job.result:
            messages.success(request, f"Gold questions come among the tasks in “{chosen}”.")
            return redirect(object_url(self.object))
        return super().get(request, *args, **kwargs)

    def is_about(self, job: Job) -> bool:
        chosen = self._chosen()
        return chosen is not None and job.subject == chosen.pk

    def _list_connections(self) -> list[Connection]:
        rows = scoped(Connection, self.request, run_page.CONNECT).filter(team=self.object.team_id)
        return [one for one in rows if connectors.connector_of(one).can("exchange_gold")]

    def _chosen(self) -> Connection | None:
        pk = parse_id(self.request.GET.get("connection", "")) or 0
        return next((one for one in self._list_connections() if one.pk == pk), None)

    def _build_form(self, connection: Connection) -> type[forms.Form]:
        watch: Watch = self.object
        link = watch.connections.filter(connection=connection).first()
        listed = self.job.result if self.job and self.job.kind == background.SOURCES else None
        declared = connectors.connector_of(connection).watch_settings
        return run_page.build_form(declared, link.settings if link else {}, listed or [])

    # -- actions

    def _connect(self) -> HttpResponse:
        connection = self._require_chosen()
        form = self._build_form(connection)(self.request.POST)
        if form.is_valid():
            settings = fields.values_of(form.cleaned_data, fields.SETTING)
            target = {"watch": self.object.pk, "settings": settings}
            kind = background.CONNECT_WATCH
            try:
                job = connectors.request_call(connection, kind, self.username, **target)
                return follow_job(self.request, job, connection=connection.pk)
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))

    def _list(self) -> HttpResponse:
        """Ask for the places to choose from, and show the form of the connection."""
        connection = self._require_chosen()
        job = connectors.request_call(connection, background.SOURCES, self.username)
        return follow_job(self.request, job, "#form", connection=connection.pk)

    def _require_chosen(self) -> Connection:
        connection = self._chosen()
        if connection is None:
            raise Http404
        return connection

    def _disconnect(self) -> None:
        link = self._link()
        connectors.disconnect_watch(link, self.username)
        paused = " Paused members stay paused there." if describe_link(link)["paused"] else ""
        messages.success(
            self.request, f"Open gold tasks are being removed in “{link.connection}”.{paused}"
        )

    def _dismiss(self) -> None:
        connectors.dismiss_problem(self._link())

    def _link(self) -> WatchConnection:
        pk = parse_id(self.request.POST.get("link", "")) or 0
        rows = self.object.connections.select_related("watch", "connection")
        link: WatchConnection = get_object_or_404(rows, pk=pk)
        return link

    actions = {
        "connect": _connect,
        "sources": _list,
        "disconnect": _disconnect,
        "dismiss": _dismiss,
    }
