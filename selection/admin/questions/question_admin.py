"""Question sets and their gold questions."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.text import Truncator
from unfold.decorators import display

from selection import reports
from selection.admin.imports.first_file import FirstFileMixin
from selection.admin.imports.importers import QUESTIONS, PreviewQuestion
from selection.admin.imports.pages import IMPORT_PAGES
from selection.admin.page import CountedDeletionMixin, list_url, page_urls
from selection.admin.run.worker_texts import AcknowledgePage
from selection.admin.scope import ScopedAdmin
from selection.imports import catalog
from selection.models import Practice, Question, QuestionSet, Run
from selection.questions import corrections, problem_reports

from .forms import CorrectionForm, PracticeForm, QuestionForm, QuestionSetForm
from .gold_pages import CorrectPage, GoldPage, RestorePage, RetirePage
from .media import MediaPage

REPORTS_SHOWN = 20


@admin.register(QuestionSet)
class QuestionSetAdmin(FirstFileMixin, CountedDeletionMixin, ScopedAdmin):
    importer = QUESTIONS
    list_display = ["name", "how_many", "created"]
    search_fields = ["name"]
    ordering = ["name"]  # repeated because a count drops the model's own
    form = QuestionSetForm
    fields = ["name", "instructions", "markdown", "tries", "most_workers"]
    change_form_outer_after_template = "selection/set_contents.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuestionSet]:
        return super().get_queryset(request).annotate(how_many=Count("questions"))

    @display(description="questions", ordering="how_many")
    def how_many(self, question_set: QuestionSet) -> str:
        url = f"{list_url(Question)}?question_set__id__exact={question_set.pk}"
        count = question_set.how_many  # type: ignore[attr-defined]
        return format_html('<a href="{}">{}</a>', url, count)

    def contents(self, item: QuestionSet) -> dict[str, int]:
        return {"questions": item.questions.count()}

    def uses(self, item: QuestionSet) -> Iterable[str]:
        runs = Run.objects.filter(Q(question_set=item) | Q(further__question_set=item)).distinct()
        watches = (f"watch “{watch}”" for watch in item.watches.all())
        return (*(f"run “{run}”" for run in runs), *watches)

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        question_set = self.get_object(request, object_id)
        if question_set is not None and self.has_view_permission(request, question_set):
            context = {"exposure": reports.count_exposure(question_set)}
            kwargs["extra_context"] = (kwargs.get("extra_context") or {}) | context
        return super().change_view(request, object_id, *args, **kwargs)

    def get_urls(self) -> list[URLPattern]:
        imports = page_urls(self, *IMPORT_PAGES, importer=QUESTIONS)
        return imports + page_urls(self, GoldPage, MediaPage) + super().get_urls()


@admin.register(Question)
class QuestionAdmin(ScopedAdmin):
    """Admin of gold questions. Runs deal them by number: a question is changed, never deleted.

    A question that was dealt is changed through a page that shows the effect on the runs.
    """

    form = QuestionForm
    fields = ["question_set", "key", "prompt", "kind", "choices", "accepted", "compared"]
    list_display = ["key", "short_prompt", "short_accepted", "question_set", "state"]
    list_filter = ["question_set", ("retired", admin.EmptyFieldListFilter)]
    change_form_outer_before_template = "selection/question_state.html"
    list_select_related = ["question_set"]
    list_per_page = 100
    search_fields = ["key", "prompt"]
    autocomplete_fields = ["question_set"]

    @display(description="prompt")
    def short_prompt(self, question: Question) -> str:
        return Truncator(question.prompt).chars(90)

    @display(description="accepted answers")
    def short_accepted(self, question: Question) -> str:
        return Truncator(" | ".join(question.accepted)).chars(60)

    @display(description="state", label={"retired": "warning"})
    def state(self, question: Question) -> str:
        return "retired" if question.retired else ""

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        question = self.get_object(request, object_id)
        if question is None or not self.has_change_permission(request, question):
            return super().change_view(request, object_id, *args, **kwargs)
        dealt = corrections.is_asked(question)
        if request.method == "POST" and dealt:
            form = CorrectionForm(request.POST, instance=question)
            if form.is_valid():
                return CorrectPage.as_view(model_admin=self)(  # type: ignore[return-value]
                    request, pk=question.pk
                )
        latest = problem_reports.reports_about(question)[:REPORTS_SHOWN]
        context = {
            "asked": dealt,
            "complaints": latest,
            "unheard": any(not report.heard for report in latest),
        }
        kwargs["extra_context"] = (kwargs.get("extra_context") or {}) | context
        return super().change_view(request, object_id, *args, **kwargs)

    def get_urls(self) -> list[URLPattern]:
        changes = (CorrectPage, RetirePage, RestorePage)
        return page_urls(self, *changes, AcknowledgePage, PreviewQuestion) + super().get_urls()

    def get_readonly_fields(
        self, request: HttpRequest, obj: Question | None = None
    ) -> tuple[str, ...]:
        return ("question_set", "key") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: Question, form: QuestionForm, change: bool
    ) -> None:
        catalog.take_questions(obj.question_set, [form.row()])
        obj.pk = obj.question_set.questions.get(key=obj.key).pk

    def has_delete_permission(self, request: HttpRequest, obj: Question | None = None) -> bool:
        return False


# -- practice questions


@admin.register(Practice)
class PracticeAdmin(ScopedAdmin):
    form = PracticeForm
    fields = [
        "question_set",
        "number",
        "prompt",
        "kind",
        "choices",
        "accepted",
        "compared",
        "explanation",
        "required",
    ]
    list_display = ["short_prompt", "number", "required", "question_set"]
    list_filter = ["question_set"]
    list_select_related = ["question_set"]
    search_fields = ["prompt"]
    autocomplete_fields = ["question_set"]
    ordering = ["question_set", "number", "id"]

    @display(description="prompt")
    def short_prompt(self, practice: Practice) -> str:
        return Truncator(practice.prompt).chars(90)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Practice | None = None
    ) -> tuple[str, ...]:
        return ("question_set",) if obj else ()
