"""Runs: the list, and the form of a draft."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.views import ChangeList

from selection import reports
from selection.admin.imports.importers import ANSWERS
from selection.admin.imports.pages import IMPORT_PAGES
from selection.admin.page import CountedDeletionMixin, object_url, page_urls
from selection.admin.past.pages import PAST_PAGES
from selection.admin.scope import ReadOnlyAdmin, ScopedAdmin, TabularInline
from selection.admin.setting_fields import build_section
from selection.admin.wizard.pages import GUIDE_PAGES
from selection.models import Answer, Pool, Run, Skill
from selection.runs.roster import quotas
from selection.runs.settings import algorithm_choices, drafts, validation
from selection.runs.settings.run_settings import STORED, Section

from . import forecast_draft
from .fields import ALGORITHM_OPTIONS
from .forms import GuaranteeForm, RunForm, SkillFormSet
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
    list_select_related = ["pool", "outlook"]
    search_fields = ["name"]
    ordering = ["-id"]
    autocomplete_fields = ["pool", "question_set"]
    readonly_fields = ["guarantees"]
    fieldsets = [
        build_section(Section.WHAT),
        build_section(Section.DECIDING, after=[*ALGORITHM_OPTIONS, "guarantees"]),
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
        return reports.summarise_forecast(run, getattr(run, "outlook", None), run.counted)

    # -- the form

    @admin.display(description="Guarantee")
    def guarantees(self, run: Run | None) -> SafeString:
        return guarantees_html(run or Run(k=1), run.pool if run and run.pk else None)

    def guarantees_view(self, request: HttpRequest) -> HttpResponse:
        """Render the guarantees for the settings in the form, fetched by run_form.js."""
        self._require_form_permission(request)
        form = GuaranteeForm(request.GET, request=request)
        return JsonResponse({"html": guarantees_html(form.run(), form.pool_chosen())})

    def _require_form_permission(self, request: HttpRequest) -> None:
        """Raise PermissionDenied unless the user may open the form that fetches this."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied

    def prices_view(self, request: HttpRequest) -> HttpResponse:
        """Render each algorithm's price for the settings in the form, fetched by run_form.js."""
        self._require_form_permission(request)
        run = GuaranteeForm(request.GET, request=request).priced_run()
        return JsonResponse(forecast_draft.price_algorithms(run) if run else {})

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the guided start, unless the query asks for the whole form."""
        if request.method == "GET" and not request.GET:
            return redirect("admin:selection_run_begin")
        return super().add_view(request, *args, **kwargs)

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

    def save_form(self, request: HttpRequest, form: RunForm, change: bool) -> Run:
        """Build a new run as the API and the command do; ``save_related`` stores it."""
        if not change:
            form.instance = drafts.build_draft(form.settings())
        run: Run = super().save_form(request, form, change)
        return run

    def save_model(self, request: HttpRequest, obj: Run, form: RunForm, change: bool) -> None:
        """Save only the form's fields: the status may have changed meanwhile."""
        if change:
            obj.save(update_fields=STORED)

    def save_related(
        self, request: HttpRequest, form: RunForm, formsets: list[SkillFormSet], change: bool
    ) -> None:
        """Create a new run here, together with its skills."""
        if change:
            super().save_related(request, form, formsets, change)
        else:
            drafts.create_run(form.instance, formsets[0].new_skills())

    def response_add(
        self, request: HttpRequest, obj: Run, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._redirect_to_page(request, obj) or super().response_add(
            request, obj, post_url_continue
        )

    def response_change(self, request: HttpRequest, obj: Run) -> HttpResponse:
        return self._redirect_to_page(request, obj) or super().response_change(request, obj)

    def _redirect_to_page(self, request: HttpRequest, run: Run) -> HttpResponseRedirect | None:
        if {"_continue", "_popup"} & set(request.POST):
            return None
        messages.success(request, "The run is saved. No questions are sent before the start.")
        return redirect(object_url(run))

    # -- addresses and deletion

    def get_urls(self) -> list[URLPattern]:
        guarantees = self.admin_site.admin_view(self.guarantees_view)
        prices = self.admin_site.admin_view(self.prices_view)
        return [
            path("prices/", prices, name="selection_run_prices"),
            path("guarantees/", guarantees, name="selection_run_guarantees"),
            *page_urls(self, *GUIDE_PAGES, *PAST_PAGES),
            *run_urls(self),
            *page_urls(self, *IMPORT_PAGES, importer=ANSWERS),
            *super().get_urls(),
        ]

    def contents(self, item: Run) -> dict[str, int]:
        return {"workers' results": item.candidates.count(), "answers": item.answers.count()}

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        active = isinstance(obj, Run) and obj.status in {Run.Status.RUNNING, Run.Status.PAUSED}
        return super().has_delete_permission(request, obj) and not active


def guarantees_html(run: Run, pool: Pool | None) -> SafeString:
    """Render each algorithm's guarantee or the refusals, and the pool's attributes."""
    workers = validation.expected_workers(run, pool.workers.count()) if pool else 0
    context = {
        "workers": workers,
        "refusals": validation.validate_run(run, workers).values() if workers else [],
        "own": algorithm_choices.choice_of_run(run, workers) if workers else None,
        "every": algorithm_choices.list_choices(run, workers) if workers else [],
        "attributes": quotas.count_attribute_values(pool) if pool else {},
    }
    return render_to_string("selection/guarantees.html", context)


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
