"""Practice questions of a set: shown before the first gold question, never counted."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.text import Truncator
from unfold.decorators import display

from selection.admin.scope import ScopedAdmin
from selection.models import Practice

from .forms import PracticeForm


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
        "must",
    ]
    list_display = ["short_prompt", "number", "must", "question_set"]
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
