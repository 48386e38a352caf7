"""Forms shared by several pages: a file or pasted lines, a reason, a list of texts."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminExpandableTextareaWidget, UnfoldAdminFileFieldWidget

from selection.admin import styled
from selection.errors import Refused
from selection.imports import uploads

TABLES = ".csv,.tsv,.txt,.xlsx,.xls,.ods,.json,.jsonl,text/csv"


def file_field(label: str, accept: str = TABLES) -> forms.FileField:
    widget = UnfoldAdminFileFieldWidget(attrs={"accept": accept})
    return forms.FileField(label=label, required=False, allow_empty_file=True, widget=widget)


class UploadForm(forms.Form):
    """A file, or its text. ``cleaned_data`` has ``name`` and ``content``."""

    file = file_field("File")
    pasted = styled.TextField(
        label="Or paste the lines here",
        required=False,
        strip=False,
        attrs={"rows": 8, "spellcheck": "false"},
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, pasted = cleaned.get("file"), cleaned.get("pasted", "")
        if bool(file) == bool(pasted.strip()):
            raise ValidationError("Choose a file or paste its lines: one of the two.")
        if file:
            try:
                uploads.refuse_large(file.name, file.size)
            except Refused as refusal:
                raise ValidationError(str(refusal)) from refusal
        name = file.name if file else "The pasted text"
        content = file.read() if file else pasted.encode(errors="replace")
        return cleaned | {"name": name[:200], "content": content}


class ReasonForm(forms.Form):
    """The reason of a change, kept in the history of the runs."""

    why = styled.CharField(
        label="Reason",
        max_length=300,
        attrs={"placeholder": "Kept in the history of the runs"},
        error_messages={"required": "Give a reason: it is written to the history of the runs."},
    )


class LinesField(forms.CharField):
    """A list of texts, one per line."""

    widget = UnfoldAdminExpandableTextareaWidget

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (super().to_python(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)
