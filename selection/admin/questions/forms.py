"""Forms of gold and practice questions: each kind, and how its answers are compared."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from selection.admin import styled
from selection.admin.forms import LinesField
from selection.admin.imports.first_file import FirstFileForm
from selection.errors import Refused
from selection.grading import question_kinds, rules
from selection.imports.row_parsers import QuestionRow
from selection.models import Practice, Question
from selection.questions.corrections import Gold
from selection.runs.settings import validation


class GradableForm(forms.ModelForm):
    """Common part of gold and practice questions; ``cleaned_data["way"]`` is the grading."""

    kind = styled.ChoiceField(
        label="Question type",
        required=False,
        choices=[(name, words.capitalize()) for name, words in rules.KINDS.items()],
    )
    accepted = LinesField(
        label="Accepted answers",
        help_text="One per line. For multiple choice: all correct choices. For ordering: every "
        "choice, in the right order.",
    )
    choices = LinesField(
        required=False,
        help_text="One per line, at least two, in display order. Leave blank if workers type the "
        "answer.",
    )
    compared = styled.CharField(
        label="Comparison of answers",
        required=False,
        attrs={"placeholder": "ignore case and spacing"},
        help_text="Leave blank to ignore case and spacing. Write exact for an exact match, case or "
        "spaces for one of the two, no accents to read é as e. Write number to compare numbers, "
        "or number ±0.01 or number ±5% with a tolerance; money, percent, number with unit, date "
        "or time to compare these in any notation. Separate several with commas.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        question = self.instance
        self.initial.setdefault("kind", question.kind if question.prompt else "single")
        self.initial.setdefault(
            "compared", rules.describe_grading(_grading_for_form(question.grading))
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            cleaned["way"] = self._grading_options(cleaned)
        if not self.errors:
            for fault in question_kinds.find_question_faults(
                cleaned["accepted"], cleaned["choices"], cleaned["way"]
            ):
                self.add_error("choices" if "only one choice" in fault else "accepted", fault)
        return cleaned

    def _grading_options(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        kind, compared, choices = cleaned["kind"], cleaned["compared"], cleaned["choices"]
        try:
            question_kinds.grading_of(compared)
        except Refused as refusal:
            self.add_error("compared", str(refusal))
            return {}
        named = ("number", "money", "percent", "date", "time")
        numbers = kind in named and compared.casefold().lstrip().startswith(named)
        try:
            return question_kinds.way_of(
                "" if numbers and not choices else kind, "", compared, choices
            )
        except Refused as refusal:
            self.add_error("kind", str(refusal))
            return {}


class QuestionForm(GradableForm):
    """A gold question, saved by ``catalog`` like questions from a file."""

    class Meta:
        model = Question
        fields = ["question_set", "key", "prompt", "choices", "accepted"]

    def row(self) -> QuestionRow:
        cleaned = self.cleaned_data
        return QuestionRow(
            1,
            self.instance.key,
            cleaned["prompt"],
            cleaned["accepted"],
            cleaned["choices"],
            cleaned["way"],
            self.instance.columns,
        )


def _grading_for_form(grading: dict[str, Any]) -> dict[str, Any]:
    """Select the options shown as comparison: the kind has a field of its own."""
    return {name: value for name, value in grading.items() if name not in {"multiple", "order"}}


class QuestionSetForm(FirstFileForm):
    def clean_most_workers(self) -> int | None:
        most: int | None = self.cleaned_data["most_workers"]
        if refusal := validation.refuse_limit(self.instance, most):
            raise ValidationError(refusal)
        return most


class CorrectionForm(QuestionForm):
    """Changes of a question that was already dealt."""

    class Meta:
        model = Question
        fields = ["prompt", "choices", "accepted"]

    def gold(self) -> Gold:
        row = self.row()
        return Gold(row.prompt, row.accepted, row.choices, row.grading)


class PracticeForm(GradableForm):
    class Meta:
        model = Practice
        fields = [
            *("question_set", "number", "prompt", "choices"),
            "accepted",
            "explanation",
            "required",
        ]

    def save(self, commit: bool = True) -> Any:
        self.instance.grading = self.cleaned_data["way"]
        return super().save(commit)
