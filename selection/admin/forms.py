"""What people type: checked here, with one sentence for each thing that is wrong."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminExpandableTextareaWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextareaWidget,
)

from selection.errors import Refused
from selection.intake import catalog, files
from selection.intake.files import QuestionRow
from selection.models import Question

BIGGEST_FILE = 50 * 1024 * 1024


class UploadForm(forms.Form):
    """A CSV file, or its text. ``cleaned_data`` has ``name`` and ``text``."""

    file = forms.FileField(
        label="CSV file",
        required=False,
        allow_empty_file=True,
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.txt,text/csv"}),
    )
    pasted = forms.CharField(
        label="Or paste the lines here",
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, pasted = cleaned.get("file"), cleaned.get("pasted", "")
        if bool(file) == bool(pasted.strip()):
            raise ValidationError("Choose a file or paste its lines: one of the two.")
        if file and file.size > BIGGEST_FILE:
            raise ValidationError(f"{file.name} is larger than 50 MB; split it into parts.")
        name = file.name if file else "The pasted text"
        try:
            text = files.text_of(file.read() if file else pasted.encode(), name)
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal
        return cleaned | {"name": name[:200], "text": text}


class LinesField(forms.CharField):
    """A list of texts, one to a line."""

    widget = UnfoldAdminExpandableTextareaWidget

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (super().to_python(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class QuestionForm(forms.ModelForm):
    """One gold question. It is saved by ``catalog``, like those that come in a file."""

    accepted = LinesField(
        label="Accepted answers",
        help_text="One to a line. Capitals and spacing do not matter.",
    )
    choices = LinesField(
        required=False,
        help_text="One to a line. Empty: the worker types the answer.",
    )

    class Meta:
        model = Question
        fields = ["question_set", "key", "prompt", "choices", "accepted"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        accepted, choices = cleaned.get("accepted", []), cleaned.get("choices", [])
        strange = [answer for answer in accepted if choices and answer not in choices]
        if strange:
            self.add_error("accepted", f"“{strange[0]}” is not among the choices.")
        if not self.errors:
            self._refuse_what_was_asked()
        return cleaned

    def _refuse_what_was_asked(self) -> None:
        question_set = self.cleaned_data.get("question_set") or self.instance.question_set
        _, problems = catalog.sort_questions(question_set, [self.row()])
        if problems:
            raise ValidationError(problems[0].why)

    def row(self) -> QuestionRow:
        cleaned = self.cleaned_data
        key = cleaned.get("key") or self.instance.key
        return QuestionRow(1, key, cleaned["prompt"], cleaned["accepted"], cleaned["choices"])
