"""What the pages of the connections of a run and of a watch share."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from selection import connectors
from selection.accounts import scoped
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage
from selection.admin.safe_lookups import parse_id
from selection.connectors import background
from selection.connectors.connector import Setting
from selection.errors import Refused
from selection.models import Connection, Job

from . import fields

CONNECT = "selection.change_connection"


class UsePage(JobMixin, ActionPage):
    """The connections of an object; ?connection=ID has the form to use one.

    target     name of the object in the job that connects it
    connects   kind of that job
    declares   name of the connector's settings for such an object
    """

    location = ("<int:pk>/where/", "where")
    below_object = True
    target: ClassVar[str]
    connects: ClassVar[str]
    declares: ClassVar[str]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        job, chosen = self.job, self._chosen()
        if job and chosen and job.kind == self.connects and job.result:
            return self._tell_connected(chosen)
        return super().get(request, *args, **kwargs)

    def is_about(self, job: Job) -> bool:
        chosen = self._chosen()
        return chosen is not None and job.subject == chosen.pk

    def _tell_connected(self, connection: Connection) -> HttpResponse:
        raise NotImplementedError

    def _team_connections(self) -> QuerySet[Connection]:
        return scoped(Connection, self.request, CONNECT).filter(team=self.object.team_id)

    def _chosen(self) -> Connection | None:
        pk = parse_id(self.request.GET.get("connection", "")) or 0
        return self._team_connections().filter(pk=pk).first()

    def _require_chosen(self) -> Connection:
        connection = self._chosen()
        if connection is None:
            raise Http404
        return connection

    def _declared(self, connection: Connection) -> tuple[Setting, ...]:
        declared: tuple[Setting, ...] = getattr(connectors.connector_of(connection), self.declares)
        return declared

    def _build_form(self, connection: Connection) -> type[forms.Form]:
        link = self.object.connections.filter(connection=connection).first()
        listed = self.job.result if self.job and self.job.kind == background.SOURCES else None
        settings = self._declared(connection)
        return build_form(settings, link.settings if link else {}, listed or [])

    # -- actions

    def _connect(self) -> HttpResponse:
        connection = self._require_chosen()
        form = self._build_form(connection)(self.request.POST)
        if form.is_valid():
            settings = fields.values_of(form.cleaned_data, fields.SETTING)
            order = {self.target: self.object.pk, "settings": settings}
            try:
                job = connectors.request_call(connection, self.connects, self.username, **order)
                return follow_job(self.request, job, connection=connection.pk)
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))

    def _list_sources(self, connection: Connection) -> HttpResponse:
        """Ask for the places to choose from, and show the form of the connection."""
        job = connectors.request_call(connection, background.SOURCES, self.username)
        return follow_job(self.request, job, "#form", connection=connection.pk)

    def _dismiss(self) -> None:
        connectors.dismiss_problem(self._link())

    def _link(self) -> Any:
        pk = parse_id(self.request.POST.get("link", "")) or 0
        rows = self.object.connections.select_related(self.target, "connection")
        return get_object_or_404(rows, pk=pk)

    actions = {"connect": _connect, "dismiss": _dismiss}


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
