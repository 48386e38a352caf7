"""Watches: the list, and the addresses of their pages."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from unfold.decorators import display
from unfold.views import ChangeList

from selection.admin.imports.importers import GOLD
from selection.admin.imports.pages import IMPORT_PAGES
from selection.admin.page import CountedDeletionMixin, object_url, page_urls
from selection.admin.scope import ScopedAdmin
from selection.models import GoldAnswer, Watch
from selection.watches import overview

from .pages import WATCH_PAGES


class WatchList(ChangeList):
    def url_for_result(self, result: Watch) -> str:
        return object_url(result)


@admin.register(Watch)
class WatchAdmin(CountedDeletionMixin, ScopedAdmin):
    actions = None
    list_display = ["name", "state", "alarms", "falling", "paused", "watched", "pool", "created"]
    list_filter = ["pool"]
    list_select_related = ["pool"]
    search_fields = ["name"]
    ordering = ["-id"]
    fields = ["name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Watch]:
        return overview.with_counts(super().get_queryset(request))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WatchList

    @display(description="state", label={"active": "success", "stopped": "warning"})
    def state(self, watch: Watch) -> str:
        return watch.state

    @display(description="alarms", ordering="alarms")
    def alarms(self, watch: Any) -> int:
        return int(watch.alarms)

    @display(description="falling", ordering="falling")
    def falling(self, watch: Any) -> int:
        return int(watch.falling)

    @display(description="paused", ordering="paused")
    def paused(self, watch: Any) -> int:
        return int(watch.paused)

    @display(description="workers", ordering="watched")
    def watched(self, watch: Any) -> int:
        return int(watch.watched)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect("admin:selection_watch_begin")

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        watch = self.get_object(request, object_id)
        if watch is None:
            return super().change_view(request, object_id, *args, **kwargs)
        return redirect(object_url(watch))

    def get_urls(self) -> list[URLPattern]:
        imports = page_urls(self, *IMPORT_PAGES, importer=GOLD)
        return page_urls(self, *WATCH_PAGES) + imports + super().get_urls()

    def contents(self, item: Watch) -> dict[str, int]:
        answers = GoldAnswer.objects.filter(watched__watch=item).count()
        return {"watched workers": item.workers.count(), "gold answers": answers}
