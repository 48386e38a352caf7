"""Read-only list of all answers. A run's page offers its own as a file."""

from django.contrib import admin
from unfold.decorators import display

from selection.admin.scope import ReadOnlyAdmin
from selection.models import Answer


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
