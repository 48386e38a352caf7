"""The system's health, shown to superusers only."""

from typing import Any

from django.contrib import admin
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin

from selection import reports
from selection.models import Heartbeat

from .page import Page


class SystemView(Page):
    template_name = "selection/system.html"
    title = "System"
    object = None

    def has_permission(self) -> bool:
        return bool(self.request.user.is_superuser)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        parts = reports.system_parts()
        workers = reports.celery_workers()
        return super().get_context_data(
            **kwargs,
            parts=parts,
            well=all(part.well for part in parts),
            workers=workers,
            load=reports.system_load(),
        )


@admin.register(Heartbeat)
class SystemAdmin(ModelAdmin):
    """Admin with one page instead of a list: only the time of each part's heartbeat is stored."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(SystemView.as_view(model_admin=self))
        return [path("", page, name="selection_heartbeat_changelist")]
