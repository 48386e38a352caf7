"""Pools and the workers in them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.text import slugify
from unfold.decorators import display

from selection import exports, privacy
from selection.admin import styled
from selection.models import Candidate, Pool, WatchedWorker, Worker

from .imports.first_file import FirstFileForm, FirstFileMixin
from .imports.importers import WORKERS
from .imports.join_offer import offer_joining
from .imports.pages import IMPORT_PAGES
from .model_workers.pool_page import PoolModelsPage
from .model_workers.worker_page import WorkerModelPage
from .page import CountedDeletionMixin, Page, file_response, list_url, page_urls
from .scope import ScopedAdmin

MOST_NAMED = 100


@admin.register(Pool)
class PoolAdmin(FirstFileMixin, CountedDeletionMixin, ScopedAdmin):
    importer = WORKERS
    form = FirstFileForm
    list_display = ["name", "how_many", "created"]
    search_fields = ["name"]
    ordering = ["name"]  # repeated because a count drops the model's own
    fields = ["name"]
    change_form_outer_after_template = "selection/pool_contents.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pool]:
        return (
            super()
            .get_queryset(request)
            .annotate(how_many=Count("workers", filter=Q(workers__erased=None)))
        )

    @display(description="workers", ordering="how_many")
    def how_many(self, pool: Pool) -> str:
        url = f"{list_url(Worker)}?pool__id__exact={pool.pk}"
        return format_html('<a href="{}">{}</a>', url, pool.how_many)  # type: ignore[attr-defined]

    def contents(self, item: Pool) -> dict[str, int]:
        return {"workers": item.workers.count()}

    def uses(self, item: Pool) -> Iterable[str]:
        watches = (f"watch “{watch}”" for watch in item.watches.all())
        return (*(f"run “{run}”" for run in item.runs.all()), *watches)

    def get_urls(self) -> list[URLPattern]:
        imports = page_urls(self, *IMPORT_PAGES, importer=WORKERS)
        return page_urls(self, PoolModelsPage) + imports + super().get_urls()


@admin.register(Worker)
class WorkerAdmin(ScopedAdmin):
    change_form_outer_after_template = "selection/worker_contents.html"
    list_display = ["key", "name", "pool"]
    list_filter = ["pool"]
    list_select_related = ["pool"]
    list_per_page = 100
    search_fields = ["key", "name"]
    autocomplete_fields = ["pool"]
    fields = ["pool", "key", "name", "mail_address", "attributes"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the e-mail address only to users who may change it."""
        fields = super().get_fields(request, obj)
        may_change = self.has_change_permission(request, obj) or obj is None
        return [name for name in fields if name != "mail_address" or may_change]

    def get_urls(self) -> list[URLPattern]:
        pages = page_urls(self, WorkerModelPage, WorkerDataPage, ErasePage)
        return pages + super().get_urls()

    def get_deleted_objects(
        self, objs: Iterable[Worker], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Protect workers in a run or a watch: their answers are part of its record."""
        workers = list(objs)
        rows = Candidate.objects.filter(worker__in=workers).order_by("run", "worker")
        used = rows.values_list("worker__key", "run__name").distinct()[:MOST_NAMED]
        protected = [f"“{key}” is in the run “{run}”" for key, run in used]
        watched = WatchedWorker.objects.filter(worker__in=workers).order_by("watch", "worker")
        names = watched.values_list("worker__key", "watch__name")[:MOST_NAMED]
        protected += [f"“{key}” is in the watch “{watch}”" for key, watch in names]
        return [str(worker) for worker in workers], {"workers": len(workers)}, set(), protected

    def save_model(self, request: HttpRequest, obj: Worker, form: ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            offer_joining(request, obj.pool)


# -- a worker's personal data


class ErasureForm(forms.Form):
    why = styled.CharField(
        label="Reason", max_length=300, required=False, attrs={"placeholder": "For the audit log"}
    )


class WorkerDataPage(Page):
    permission_required = ["selection.view_worker", "selection.view_answer"]
    location = ("<int:pk>/data.json", "data")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        worker: Worker = self.object
        document = privacy.export_worker(privacy.same_person(worker.key, worker.pool.team))
        text = exports.json_text(document).encode()
        name = f"{slugify(worker.key) or 'worker'}-data.json"
        return file_response(exports.File(name, "application/json", iter([text])))


class ErasePage(Page):
    """A confirmation page that lists the data to be erased and the data that stay."""

    permission_required = ["selection.delete_worker", "selection.change_run"]
    location = ("<int:pk>/erase/", "erase")
    heading = "Erase {}?"
    below_object = True
    template_name = "selection/worker_erase.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        rows = self._worker_rows()
        facts = {"rows": rows, "runs": privacy.runs_of(rows), "form": ErasureForm()}
        facts["effects"] = privacy.preview_erasure(rows)
        return super().get_context_data(**kwargs, **facts)

    def _worker_rows(self) -> Sequence[Worker]:
        return privacy.same_person(self.object.key, self.object.pool.team)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form = ErasureForm(request.POST)
        reason = form.cleaned_data["why"] if form.is_valid() else ""
        erasure = privacy.erase_worker(list(self._worker_rows()), self.username, reason)
        messages.success(
            request,
            f"Erased. In their runs they are {erasure.pseudonym} from now on."
            + "".join(f" Withdrawn from {run}." for run in erasure.withdrawn),
        )
        return redirect(list_url(Worker))
