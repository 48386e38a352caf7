"""Runs: the list, and the form of a draft."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from selection import extensions, reports
from selection.admin.imports.importers import ANSWERS
from selection.admin.imports.pages import IMPORT_PAGES
from selection.admin.page import CountedDeletionMixin, object_url, page_urls
from selection.admin.run_fields import ALGORITHM_OPTIONS
from selection.admin.scope import ReadOnlyAdmin, ScopedAdmin, TabularInline
from selection.admin.setting_fields import build_section
from selection.admin.wizard.pages import GUIDE_PAGES
from selection.models import Answer, Run, Skill
from selection.runs.settings.run_settings import STORED, Section

from .forms import RunForm, SkillFormSet
from .pages import run_urls


class SkillInline(TabularInline):
    model = Skill
    formset = SkillFormSet
    fields = ["question_set", "k"]
    autocomplete_fields = ["question_set"]
    extra = 1
    verbose_name_plural = "More question sets on the same budget"


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
    form = RunForm
    inlines = [SkillInline]
    actions = None
    change_form_outer_before_template = "selection/run_form_before.html"
    list_display = ["name", "state", "counts", "remaining", "pool", "k", "algorithm", "created"]
    list_filter = [StateFilter, "pool", "algorithm"]
    list_select_related = ["pool", "forecast"]
    search_fields = ["name"]
    ordering = ["-id"]
    autocomplete_fields = ["pool", "question_set"]
    fieldsets = [
        build_section(Section.WHAT),
        build_section(Section.DECIDING, after=[*ALGORITHM_OPTIONS]),
        (
            "Quotas",
            {
                "fields": ["quota_attribute", "quota_lines"],
                "description": "Limits for each value of a worker attribute among the selected "
                "workers. Leave blank for no limits.",
            },
        ),
        build_section(Section.DEALING),
        build_section(
            Section.JOINING,
            "A run with an open roster can start without workers. They join by a link or the API.",
        ),
        build_section(
            Section.ARRIVING,
            "For workers that a platform sends to the join link, and back at the end.",
        ),
        build_section(
            Section.ADMISSION, "Workers have the same id in all your pools.", before=["only_from"]
        ),
        build_section(
            Section.REPEATING,
            "The seed fixes the order of questions and every random choice. Keep the default "
            "unless you reproduce a run.",
        ),
        build_section(
            Section.KINDS, "Add the other question sets below, each with a K of its own."
        ),
    ]

    class Media:
        js = ["selection/run_form.js"]

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

    # -- the form

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the guided start: it is the form of a new run."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect(f"{reverse('admin:selection_run_begin')}?{request.GET.urlencode()}")

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        may_change = self.has_change_permission(request, run)
        if run is not None and run.status != Run.Status.DRAFT:
            messages.info(request, "A started run cannot be edited here.")
            return redirect(object_url(run))
        if run is not None and request.method == "GET" and not may_change:
            return redirect(object_url(run))  # it says all that the form does
        return super().change_view(request, object_id, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Run, form: RunForm, change: bool) -> None:
        """Save only the form's fields: the status may have changed meanwhile."""
        obj.save(update_fields=STORED)

    def response_change(self, request: HttpRequest, obj: Run) -> HttpResponse:
        return self._redirect_to_page(request, obj) or super().response_change(request, obj)

    def _redirect_to_page(self, request: HttpRequest, run: Run) -> HttpResponseRedirect | None:
        if {"_continue", "_popup"} & set(request.POST):
            return None
        messages.success(request, "The run is saved. No questions are sent before the start.")
        return redirect(object_url(run))

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
