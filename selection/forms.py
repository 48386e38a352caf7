"""What people type: checked here, with one sentence for each thing that is wrong."""

import secrets
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminExpandableTextareaWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextareaWidget,
)

from . import catalog, files, reports
from .errors import Refused
from .files import QuestionRow
from .models import Pool, Question, Run

# The settings of a run that have a range; the sentences about them come from reports.refusals.
RANGES = ("k", "epsilon", "delta", "budget")
BIGGEST_ID = 2**63 - 1
BIGGEST_FILE = 50 * 1024 * 1024


class WorkForm(forms.Form):
    """A worker's answer."""

    assignment = forms.IntegerField(min_value=1, max_value=BIGGEST_ID)
    response = forms.CharField(max_length=10_000)


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


class RunForm(forms.ModelForm):
    """A run, while it is a draft."""

    class Meta:
        model = Run
        # The admin writes the first letter large, and ε would read as E.
        labels = {"epsilon": "Accuracy ε", "delta": "Risk δ"}
        fields = [
            "name",
            "pool",
            "question_set",
            "k",
            "algorithm",
            "epsilon",
            "delta",
            "budget",
            "slots",
            "slots_per_worker",
            "minutes",
            "recorded_only",
            "seed",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in RANGES:
            self.fields[name].validators = []
        if not self.instance.pk:
            self.initial.setdefault("seed", secrets.randbelow(2**31))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._refuse_what_has_begun()
        pool = cleaned.get("pool")
        if pool is None:
            return cleaned
        for field, why in reports.refusals(Run(**_given(cleaned)), pool.workers.count()).items():
            if field == "pool" or field in cleaned:
                self.add_error(field, why)
        return cleaned

    def _refuse_what_has_begun(self) -> None:
        """It may have been started in another window; it stays locked until this is saved."""
        if self.instance.pk is None:
            return
        locked = Run.objects.locked(self.instance.pk)
        if locked is None or locked.status != Run.Status.DRAFT:
            raise ValidationError("The run has been started meanwhile and cannot be changed now.")


class PromiseForm(forms.Form):
    """What a promise depends on, as it stands in a run's form: any of it may be missing."""

    pool = forms.ModelChoiceField(Pool.objects.all(), required=False)
    k = forms.IntegerField(required=False)
    epsilon = forms.FloatField(required=False)
    delta = forms.FloatField(required=False)
    budget = forms.IntegerField(required=False)

    def run(self) -> Run:
        self.full_clean()
        return Run(**_given(self.cleaned_data))

    def workers(self) -> int:
        pool = self.cleaned_data.get("pool")
        return pool.workers.count() if pool else 0


def _given(cleaned: dict[str, Any]) -> dict[str, Any]:
    """The settings that have a range, where they are given; 1 stands for a K not given yet."""
    given = {name: cleaned[name] for name in RANGES if cleaned.get(name) is not None}
    return {"k": 1} | given


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
