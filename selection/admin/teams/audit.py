"""The audit log: a list for owners and its downloads."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.decorators import display

from selection import audit
from selection.accounts import scoped
from selection.admin import object_history
from selection.admin.page import csv_response, lines_response
from selection.admin.scope import ReadOnlyAdmin
from selection.models import AuditEntry


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin):
    list_display = ["at", "user", "action", "type", "name", "values", "reason", "from_address"]
    list_display_links = None
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["who__exact", "name", "model__exact", "kind__exact"]
    search_help_text = "User, action, type or name"
    list_after_template = "selection/audit_downloads.html"

    @display(description="user", ordering="who")
    def user(self, entry: AuditEntry) -> str:
        return entry.who

    @display(description="action", ordering="kind")
    def action(self, entry: AuditEntry) -> str:
        return entry.kind

    @display(description="type", ordering="model")
    def type(self, entry: AuditEntry) -> str:
        return entry.model

    @display(description="reason", ordering="why")
    def reason(self, entry: AuditEntry) -> str:
        return entry.why or "–"

    @display(description="address", ordering="address")
    def from_address(self, entry: AuditEntry) -> str:
        return entry.address or "–"

    @display(description="before → after")
    def values(self, entry: AuditEntry) -> SafeString:
        return object_history.describe_changes(entry)

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)
        return [column for column in columns if column != "team"]  # a team may be deleted since

    def get_list_filter(self, request: HttpRequest) -> Any:
        return []

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("export/", wrap(self.export_view), name="selection_audit_export"),
            path("export.jsonl", wrap(self.lines_view), name="selection_audit_lines"),
            *super().get_urls(),
        ]

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        return csv_response("audit log", list(audit.FIELDS), self._csv_lines(request))

    def lines_view(self, request: HttpRequest) -> HttpResponseBase:
        return lines_response("audit log", self._csv_lines(request))

    def _csv_lines(self, request: HttpRequest) -> Iterator[dict[str, Any]]:
        if request.method != "GET" or not self.has_view_permission(request):
            raise PermissionDenied
        entries: QuerySet[AuditEntry] = scoped(AuditEntry, request)
        return audit.list_entries(entries)
