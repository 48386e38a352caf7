"""The system's health, shown to superusers only."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin

from selection import reports
from selection.errors import Refused
from selection.imports.row_parsers import read_email
from selection.mail import server
from selection.models import Heartbeat

from .page import Page


class SystemView(Page):
    template_name = "selection/system.html"
    title = "System"
    object = None

    def has_permission(self) -> bool:
        return bool(self.request.user.is_superuser)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            address = read_email(request.POST.get("address", ""))
            if not address:
                raise Refused("Enter an address for the test message.")
            messages.success(request, server.send_test(address))
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect("admin:selection_heartbeat_changelist")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        parts = reports.system_parts()
        workers = reports.celery_workers()
        return super().get_context_data(
            **kwargs,
            parts=parts,
            well=all(part.well for part in parts),
            workers=workers,
            mail=server.describe_settings(),
            address=getattr(self.request.user, "email", ""),
            load=reports.system_load(),
        )


@admin.register(Heartbeat)
class SystemAdmin(ModelAdmin):
    """Admin with one page instead of a list: only the time of each part's heartbeat is stored."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(SystemView.as_view(model_admin=self))
        return [path("", page, name="selection_heartbeat_changelist")]
