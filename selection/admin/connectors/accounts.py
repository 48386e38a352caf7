"""Connections: list, form with the connector's fields, and the page of one."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from selection import connectors
from selection.admin.job_page import find_own_job, follow_job
from selection.admin.page import CountedDeletionMixin, page_urls
from selection.admin.scope import ScopedAdmin
from selection.connectors import background
from selection.errors import Refused
from selection.models import Connection

from . import fields
from .account_page import AccountPage

MOST_NAMED = 100


class ConnectionForm(forms.ModelForm):
    """Form of a connection; the admin adds the fields of its connector.

    kind  name of the connector of a new connection
    """

    kind = ""

    class Meta:
        model = Connection
        fields = ["name", "address"]
        widgets = {
            "address": UnfoldAdminTextInputWidget(
                {"placeholder": "https://studio.example.org", "inputmode": "url"}
            )
        }

    def _post_clean(self) -> None:
        """Check the values; the account is checked by a job, before the connection is stored."""
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        self.instance.kind = self.instance.kind or self.kind
        cleaned = self.cleaned_data
        secrets = fields.values_of(cleaned, fields.SECRET)
        try:
            self.instance.job = connectors.request_save(
                self.instance,
                self.request.user.get_username(),  # type: ignore[attr-defined]
                name=cleaned["name"],
                address=cleaned["address"],
                secrets={name: value for name, value in secrets.items() if value},
                settings=fields.values_of(cleaned, fields.SETTING),
            )
        except connectors.FieldRefused as refusal:
            self.add_error(self._field_of(refusal.field), str(refusal))
        except Refused as refusal:
            self.add_error(None, str(refusal))

    def _field_of(self, name: str) -> str | None:
        places = (name, f"{fields.SECRET}{name}", f"{fields.SETTING}{name}")
        return next((place for place in places if place in self.fields), None)


@admin.register(Connection)
class ConnectionAdmin(CountedDeletionMixin, ScopedAdmin):
    """Admin of connections; saving one checks the account, and the form waits for that."""

    form = ConnectionForm
    list_display = ["name", "tool", "address", "condition", "used"]
    search_fields = ["name"]
    fields = ["name", "address"]
    change_form_outer_before_template = "selection/connection_kinds.html"
    change_form_outer_after_template = "selection/connection_contents.html"

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        connector = self._connector(request, obj)
        stored = bool(obj and obj.secrets_encrypted)
        own = fields.secret_fields(connector.secrets, stored)
        own |= fields.setting_fields(connector.settings, obj.settings if obj else {})
        kwargs["form"] = type("ConnectorForm", (ConnectionForm,), own | {"kind": connector.name})
        form = super().get_form(request, obj, change, **kwargs)
        if (address := form.base_fields.get("address")) is not None:  # None for viewers
            address.required, address.help_text = True, connector.address_help
        return form

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        connector = self._connector(request, obj)
        secrets = [f"{fields.SECRET}{one.name}" for one in connector.secrets]
        own = [f"{fields.SETTING}{one.name}" for one in connector.settings]
        return [*super().get_fields(request, obj), *secrets, *own]

    def _connector(self, request: HttpRequest, obj: Connection | None) -> Any:
        if obj is not None:
            return connectors.connector_of(obj)
        kind = request.GET.get("kind", "")
        kinds = connectors.CONNECTORS
        return kinds.get(kind) or kinds[min(kinds)]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str]:
        connector, job = self._connector(request, None), find_own_job(request, background.SAVE)
        usual = {"name": connector.label, "address": connector.address}
        return usual if job is None else {name: job.wanted[name] for name in usual}

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """Fill the connection with the values that were entered, if their check failed."""
        connection = super().get_object(request, object_id, from_field)
        job = find_own_job(request, background.SAVE) if request.method == "GET" else None
        if connection is not None and job is not None and job.subject == connection.pk:
            for name in ("name", "address", "settings"):
                setattr(connection, name, job.wanted[name])
        return connection

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj = context.get("original")
        context["job"] = find_own_job(request, background.SAVE)
        context["connector"] = self._connector(request, obj)
        context["connectors"] = sorted(connectors.CONNECTORS.values(), key=lambda one: one.label)
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show the connection once its check has ended well."""
        job = find_own_job(request, background.SAVE) if request.method == "GET" else None
        if job is None or job.result is None:
            return super().changeform_view(request, object_id, form_url, extra_context)
        messages.success(request, f"The account is accepted: {job.result['account']}")
        return redirect("admin:selection_connection_calls", job.result["connection"])

    def save_model(
        self, request: HttpRequest, obj: Connection, form: ConnectionForm, change: bool
    ) -> None:
        """Leave it to the job, which stores the connection after the check."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """Leave it to the job: there is no connection yet."""

    def response_add(
        self, request: HttpRequest, obj: Connection, post_url_continue: str | None = None
    ) -> HttpResponse:
        return follow_job(request, obj.job, kind=obj.kind)  # type: ignore[attr-defined]

    def response_change(self, request: HttpRequest, obj: Connection) -> HttpResponse:
        return follow_job(request, obj.job)  # type: ignore[attr-defined]

    @display(description="tool")
    def tool(self, connection: Connection) -> str:
        return connectors.connector_of(connection).label

    @display(
        description="state", label={"working": "success", "failing": "danger", "paused": "info"}
    )
    def condition(self, connection: Connection) -> str:
        return connection.state

    @display(description="content")
    def used(self, connection: Connection) -> str:
        return format_html('<a href="{}">Projects and calls</a>', account_url(connection))

    def uses(self, item: Connection) -> Iterable[str]:
        links = item.runs.select_related("run")[:MOST_NAMED]
        watches = item.watches.select_related("watch")[:MOST_NAMED]
        runs = [f"the run “{link.run}” uses “{item}”" for link in links]
        return [*runs, *(f"the watch “{link.watch}” uses “{item}”" for link in watches)]

    def get_urls(self) -> list[URLPattern]:
        return page_urls(self, AccountPage) + super().get_urls()


def account_url(connection: Connection) -> str:
    return reverse("admin:selection_connection_calls", args=[connection.pk])
