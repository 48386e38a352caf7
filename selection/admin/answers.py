"""Every answer, as an audit: to look at and to export, never to change."""

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from import_export import fields, resources
from import_export.admin import ExportMixin
from import_export.formats import base_formats
from unfold.admin import ModelAdmin
from unfold.contrib.import_export.forms import ExportForm
from unfold.decorators import display

from selection.models import Answer


class AnswerResource(resources.ModelResource):
    run = fields.Field("run_name", "run")
    worker = fields.Field("worker_key", "worker")
    question = fields.Field("question_key", "question")
    position = fields.Field("position", "position")

    class Meta:
        model = Answer
        fields = [
            "run",
            "worker",
            "question",
            "position",
            "response",
            "right",
            "expired",
            "at",
            "applied_in",
        ]
        export_order = fields


@admin.register(Answer)
class AnswerAdmin(ExportMixin, ModelAdmin):
    resource_classes = [AnswerResource]
    export_form_class = ExportForm
    formats = [base_formats.CSV, base_formats.JSON]
    list_display = ["worker", "question", "response", "outcome", "at", "applied_in", "run"]
    list_filter = ["run", "right", "expired"]
    list_select_related = ["run", "assignment__candidate__worker", "assignment__question"]
    list_per_page = 100
    show_full_result_count = False
    search_fields = [
        "assignment__candidate__worker__key__exact",
        "assignment__question__key__exact",
    ]
    search_help_text = "A worker or a question, exactly"

    def get_export_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        """One object a row instead of six: this is what makes long exports bearable."""
        return (
            super()
            .get_export_queryset(request)
            .select_related(None)
            .annotate(
                run_name=F("run__name"),
                worker_key=F("assignment__candidate__worker__key"),
                question_key=F("assignment__question__key"),
                position=F("assignment__position"),
            )
        )

    @display(description="worker")
    def worker(self, answer: Answer) -> str:
        return answer.assignment.candidate.worker.key

    @display(description="question")
    def question(self, answer: Answer) -> str:
        return answer.assignment.question.key

    @display(description="graded", label={"right": "success", "too late": "warning"})
    def outcome(self, answer: Answer) -> str:
        if answer.expired:
            return "too late"
        return "right" if answer.right else "not right"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Answer | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Answer | None = None) -> bool:
        return False
