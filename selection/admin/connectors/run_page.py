"""Where people answer: a section of a run's page, and the page of its connections."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from selection import connectors, reports
from selection.admin.page import object_url
from selection.connectors import background
from selection.models import Connection, OutsideTask, Run, RunConnection

from .use_page import CONNECT, UsePage

State = OutsideTask.State
STATES = [
    (State.WAITING, "on their way"),
    (State.SENT, "open there"),
    (State.ANSWERED, "answered"),
    (State.LEAVING, "to be removed"),
    (State.REFUSED, "refused"),
]
USUAL = (State.SENT, State.ANSWERED)  # shown even if there are none
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
    return [
        (words, counts.get(state, 0))
        for state, words in STATES
        if state in USUAL or counts.get(state)
    ]


class WherePage(UsePage):
    """The connections of a run; ?connection=ID has the form to use one."""

    permission_required = ["selection.view_run"]
    template_name = "selection/run_where.html"
    title = "Where people answer"
    job_kinds = (background.SOURCES, background.CONNECT)
    target, connects, declares = "run", background.CONNECT, "run_settings"

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

    def _may_connect(self) -> bool:
        over = self.object.status == Run.Status.ENDED
        return not over and self.may("selection.change_run") and self.may(CONNECT)

    def _list_others(self) -> list[Connection]:
        if not self._may_connect():
            return []
        rows = self._team_connections()
        return list(rows.exclude(runs__in=self.object.connections.filter(on=True)))

    def _selected(self) -> list[str]:
        run: Run = self.object
        if run.status == Run.Status.DRAFT:
            return []
        lines = reports.run_standings(run).lines
        return list(dict.fromkeys(line.worker for line in lines if line.selected))

    # -- actions

    def _tell_connected(self, connection: Connection) -> HttpResponse:
        deals = connectors.connector_of(connection).deals
        effect = "People answer in" if deals else "The run is connected to"
        draft = self.object.status == Run.Status.DRAFT
        when = "once the run has started" if draft and deals else "from now on"
        messages.success(self.request, f"{effect} “{connection}” {when}.")
        return redirect(object_url(self.object)) if draft else self.redirect_back()

    def _list(self) -> HttpResponse:
        connection = self._require_chosen()
        listed = any(setting.kind == "source" for setting in self._declared(connection))
        if listed and not connection.paused:
            return self._list_sources(connection)
        return redirect(f"{self.request.path}?connection={connection.pk}#form")

    def _disconnect(self) -> None:
        link = self._link()
        connectors.disconnect_run(link, self.username)
        deals = connectors.connector_of(link.connection).deals
        effect = "Open tasks are being removed in" if deals else "The run is disconnected from"
        messages.success(self.request, f"{effect} “{link.connection}”.")

    def _write(self) -> None:
        link, how = self._link(), self.request.POST.get("how", "")
        connectors.write_back(link, how, self._selected())
        messages.success(self.request, "The selected workers are being written.")

    actions = UsePage.actions | {"sources": _list, "disconnect": _disconnect, "write": _write}
