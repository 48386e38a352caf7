"""Where people answer: a section of a run's page, and the page of its connections."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from selection import connectors, reports
from selection.accounts import scoped
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, object_url
from selection.admin.safe_lookups import parse_id
from selection.connectors import background
from selection.connectors.connector import Setting
from selection.errors import Refused
from selection.models import Connection, Job, OutsideTask, Run, RunConnection

from . import fields

State = OutsideTask.State
STATES = [
    (State.WAITING, "on their way"),
    (State.SENT, "open there"),
    (State.ANSWERED, "answered"),
    (State.LEAVING, "to be removed"),
    (State.REFUSED, "refused"),
]
USUAL = (State.SENT, State.ANSWERED)  # shown even if there are none
CONNECT = "selection.change_connection"
# The page of a run for what only this connector does, by its name.
OWN_PAGES = {"prolific": "admin:selection_run_prolific"}


def connection_facts(run: Run) -> dict[str, Any]:
    used = [_describe(link) for link in connectors.list_links(run)]
    return {"used_connections": used, "where_url": where_url(run)}


def where_url(run: Run) -> str:
    return reverse("admin:selection_run_where", args=[run.pk])


def _describe(link: RunConnection) -> dict[str, Any]:
    connector = connectors.connector_of(link.connection)
    notes = {one.get("webhook", "") for one in link.workers.values_list("notes", flat=True)}
    return {
        "link": link,
        "connector": connector,
        "page_url": reverse(OWN_PAGES[connector.name], args=[link.run_id])
        if connector.name in OWN_PAGES
        else "",
        "tasks": _count_tasks(link) if connector.deals else [],
        "problems": [one for one in (link.connection.problem, link.problem) if one],
        "notes": sorted(notes - {"", "on"}),
        "settings": [
            (one.label, link.settings.get(one.name, ""))
            for one in connector.run_settings
            if link.settings.get(one.name)
        ],
    }


def _count_tasks(link: RunConnection) -> list[tuple[str, int]]:
    rows = link.tasks.order_by().values_list("state").annotate(number=Count("id"))
    counts = dict(rows.values_list("state", "number"))
    tasks = [
        (words, counts.get(state, 0))
        for state, words in STATES
        if state in USUAL or counts.get(state)
    ]
    late = link.tasks.filter(state=State.ANSWERED, assignment__answer=None).count()
    return [*tasks, ("answered too late", late)] if late else tasks


class WherePage(JobMixin, ActionPage):
    """The connections of a run; ?connection=ID has the form to use one."""

    permission_required = ["selection.view_run"]
    location = ("<int:pk>/where/", "where")
    below_object = True
    template_name = "selection/run_where.html"
    title = "Where people answer"
    job_kinds = (background.SOURCES, background.CONNECT)

    def has_permission(self) -> bool:
        needed = ["selection.change_run", CONNECT] if self.request.method == "POST" else []
        return super().has_permission() and all(map(self.may, needed))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run: Run = self.object
        links = run.connections.select_related("connection")
        chosen = self._chosen() if self._may_connect() else None
        form = kwargs.pop("form", None)
        if form is None and chosen is not None:
            form = self._build_form(chosen)()
        return super().get_context_data(
            run=run,
            used=[_describe(link) for link in links.filter(on=True)],
            earlier=links.filter(on=False),
            others=self._list_others(),
            chosen=chosen,
            chosen_deals=chosen and connectors.connector_of(chosen).deals,
            form=form,
            may_connect=self._may_connect(),
            selected=self._selected(),
            **kwargs,
        )

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        job, chosen = self.job, self._chosen()
        if job and chosen and job.kind == background.CONNECT and job.result:
            return self._tell_connected(chosen)
        return super().get(request, *args, **kwargs)

    def is_about(self, job: Job) -> bool:
        chosen = self._chosen()
        return chosen is not None and job.subject == chosen.pk

    def _build_form(self, connection: Connection) -> type[forms.Form]:
        job = self.job
        listed = job.result if job is not None and job.kind == background.SOURCES else None
        link = self.object.connections.filter(connection=connection).first()
        declared = connectors.connector_of(connection).run_settings
        return build_form(declared, link.settings if link else {}, listed or [])

    def _may_connect(self) -> bool:
        over = self.object.status == Run.Status.ENDED
        return not over and self.may("selection.change_run") and self.may(CONNECT)

    def _list_others(self) -> list[Connection]:
        if not self._may_connect():
            return []
        rows = scoped(Connection, self.request, CONNECT).filter(team=self.object.team_id)
        return list(rows.exclude(runs__in=self.object.connections.filter(on=True)))

    def _chosen(self) -> Connection | None:
        pk = parse_id(self.request.GET.get("connection", "")) or 0
        rows = scoped(Connection, self.request, CONNECT).filter(team=self.object.team_id)
        return rows.filter(pk=pk).first()

    def _selected(self) -> list[str]:
        run: Run = self.object
        if run.status == Run.Status.DRAFT:
            return []
        lines = reports.run_standings(run).lines
        return list(dict.fromkeys(line.worker for line in lines if line.selected))

    # -- actions

    def _connect(self) -> HttpResponse | None:
        connection = self._chosen()
        if connection is None:
            raise Http404
        form = self._build_form(connection)(self.request.POST)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form))
        settings = fields.values_of(form.cleaned_data, fields.SETTING)
        target = {"run": self.object.pk, "settings": settings}
        try:
            job = connectors.request_call(connection, background.CONNECT, self.username, **target)
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self.render_to_response(self.get_context_data(form=form))
        return follow_job(self.request, job, connection=connection.pk)

    def _tell_connected(self, connection: Connection) -> HttpResponse:
        deals = connectors.connector_of(connection).deals
        effect = "People answer in" if deals else "The run is connected to"
        draft = self.object.status == Run.Status.DRAFT
        when = "once the run has started" if draft and deals else "from now on"
        messages.success(self.request, f"{effect} “{connection}” {when}.")
        return redirect(object_url(self.object)) if draft else self.redirect_back()

    def _list(self) -> HttpResponse:
        """Ask for the places to choose from, and show the form of the connection."""
        connection = self._chosen()
        if connection is None:
            raise Http404
        declared = connectors.connector_of(connection).run_settings
        if any(setting.kind == "source" for setting in declared) and not connection.paused:
            job = connectors.request_call(connection, background.SOURCES, self.username)
            return follow_job(self.request, job, "#form", connection=connection.pk)
        return redirect(f"{self.request.path}?connection={connection.pk}#form")

    def _disconnect(self) -> None:
        link = self._link()
        connectors.disconnect_run(link, self.username)
        deals = connectors.connector_of(link.connection).deals
        effect = "Open tasks are being removed in" if deals else "The run is disconnected from"
        messages.success(self.request, f"{effect} “{link.connection}”.")

    def _dismiss(self) -> None:
        connectors.dismiss_problem(self._link())

    def _write(self) -> None:
        link, how = self._link(), self.request.POST.get("how", "")
        connectors.write_back(link, how, self._selected())
        messages.success(self.request, "The selected workers are being written.")

    def _link(self) -> RunConnection:
        pk = parse_id(self.request.POST.get("link", "")) or 0
        rows = self.object.connections.select_related("run", "connection")
        link: RunConnection = get_object_or_404(rows, pk=pk)
        return link

    actions = {
        "connect": _connect,
        "sources": _list,
        "disconnect": _disconnect,
        "dismiss": _dismiss,
        "write": _write,
    }


def build_form(
    settings: Iterable[Setting], values: Mapping[str, Any], sources: list[dict[str, str]]
) -> type[forms.Form]:
    declared = [_offer_sources(one, sources) for one in settings]
    own: dict[str, Any] = fields.setting_fields(declared, values)
    return type("LinkForm", (forms.Form,), own)


def _offer_sources(setting: Setting, sources: list[dict[str, str]]) -> Setting:
    if setting.kind != "source" or not sources:
        return setting
    listed = [(one["id"], f"{one['name']} ({one['id']})") for one in sources]
    return replace(setting, kind="choice", choices=(("", "none"), *listed))
