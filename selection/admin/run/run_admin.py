"""Runs and answers: their lists."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from selection import extensions, reports
from selection.admin.imports.importers import ANSWERS
from selection.admin.imports.pages import IMPORT_PAGES
from selection.admin.page import CountedDeletionMixin, object_url, page_urls
from selection.admin.scope import ReadOnlyAdmin, ScopedAdmin
from selection.admin.wizard.pages import GUIDE_PAGES
from selection.models import Answer, Run

from .pages import run_urls


class StateFilter(admin.SimpleListFilter):
    """The states of a run as the list names them: an ended run waits for review, or is archived."""

    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        kept = [(value, label.capitalize()) for value, label in Run.Status.choices]
        return [*kept[:-1], ("review", "Ready for review"), ("archived", "Archived")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        chosen = self.value()
        if chosen in ("review", "archived"):
            return queryset.filter(status=Run.Status.ENDED, archived__isnull=chosen == "review")
        return queryset.filter(status=chosen) if chosen else queryset


class RunList(ChangeList):
    def url_for_result(self, result: Run) -> str:
        return object_url(result)


@admin.register(Run)
class RunAdmin(CountedDeletionMixin, ScopedAdmin):
    actions = None
    list_display = ["name", "state", "counts", "remaining", "pool", "k", "algorithm", "created"]
    list_filter = [StateFilter, "pool", "algorithm"]
    list_select_related = ["pool", "forecast"]
    search_fields = ["name"]
    ordering = ["-id"]

    # -- the list

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return reports.annotate_counts(super().get_queryset(request))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RunList

    @display(
        description="state",
        ordering="status",
        label={
            "enrolling": "success",
            "running": "success",
            "paused": "warning",
            "ready for review": "info",
        },
    )
    def state(self, run: Run) -> tuple[str, str]:
        return run.state, run.state.capitalize()

    @display(description="accepted / rejected / undecided / not tested")
    def counts(self, run: Any) -> str:
        if run.status == Run.Status.DRAFT:
            return "–"
        undecided = run.workers - run.accepted - run.rejected - run.not_tested
        return f"{run.accepted} / {run.rejected} / {undecided} / {run.not_tested}"

    @display(description="estimated remaining")
    def remaining(self, run: Any) -> str:
        if run.status not in (Run.Status.RUNNING, Run.Status.PAUSED):
            return "–"
        return reports.summarise_forecast(run, getattr(run, "forecast", None), run.counted)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the guided start: it is the form of a new run."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect(f"{reverse('admin:selection_run_begin')}?{request.GET.urlencode()}")

    # -- addresses and deletion

    def get_urls(self) -> list[URLPattern]:
        return [
            *page_urls(self, *GUIDE_PAGES, *extensions.RUN_PAGES),
            *run_urls(self),
            *page_urls(self, *IMPORT_PAGES, importer=ANSWERS),
            *super().get_urls(),
        ]

    def contents(self, item: Run) -> dict[str, int]:
        return {"workers' results": item.candidates.count(), "answers": item.answers.count()}

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        active = isinstance(obj, Run) and obj.status in {Run.Status.RUNNING, Run.Status.PAUSED}
        return super().has_delete_permission(request, obj) and not active


# -- answers of all runs


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    list_display = ["worker", "question", "response", "outcome", "at", "counting_step", "run"]
    list_filter = ["run", "right", "expired", "void"]
    list_select_related = ["run", "assignment__candidate__worker", "assignment__question"]
    list_per_page = 100
    show_full_result_count = False
    search_fields = [
        "assignment__candidate__worker__key__exact",
        "assignment__question__key__exact",
    ]
    search_help_text = "A worker or a question, exactly"

    @display(description="worker")
    def worker(self, answer: Answer) -> str:
        return answer.assignment.candidate.worker.key

    @display(description="question")
    def question(self, answer: Answer) -> str:
        return answer.assignment.question.key

    @display(description="graded", label={"right": "success", "not in time": "warning"})
    def outcome(self, answer: Answer) -> str:
        if answer.expired:
            return "not in time"
        return "right" if answer.right else "wrong"

    @display(description="counted in step", ordering="applied_in")
    def counting_step(self, answer: Answer) -> int | None:
        return answer.applied_in
