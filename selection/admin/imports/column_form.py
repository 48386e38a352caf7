"""Form that assigns a file's columns to fields."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from selection.errors import Refused
from selection.imports import surveys
from selection.imports.column_plan import FIELDS, WORKERS, ColumnPlan
from selection.imports.readers import ENCODINGS
from selection.imports.uploads import FileHead
from selection.models import Upload

SURVEY = "survey"
OTHER = "other-"  # before the place of a column that names no question


class ColumnForm(forms.Form):
    """A column for each field, and for workers the columns kept as attributes. See ``plan``."""

    def __init__(self, upload: Upload, head: FileHead, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.saved = ColumnPlan(**upload.plan)
        columns = [(str(place), name) for place, name in enumerate(head.header) if name]
        self.columns = dict(columns)
        self.places = {name: place for place, name in columns}
        fields = (head.survey.fields if head.survey else {}) | self.saved.fields
        for field in FIELDS[upload.kind]:
            self.fields[field.name] = forms.ChoiceField(
                label=field.words.capitalize(),
                choices=[("", "choose a column" if field.needed else "in no column"), *columns],
                required=field.needed,
                initial=self.places.get(fields.get(field.name, ""), ""),
                widget=UnfoldAdminSelectWidget,
                error_messages={"required": "Choose the column that has this."},
            )
        if upload.kind == WORKERS:
            self._add_attributes(columns)
        self.survey, self.questions_asked = head.survey, head.asked
        if head.survey:
            self._add_survey(head.survey)
        if len(columns) == 1:
            self.fields["headed"] = forms.BooleanField(
                label="The first line names the column",
                required=False,
                initial=self.saved.headed,
                widget=UnfoldBooleanWidget,
            )
        if head.encoding:
            self._add_encoding(upload, head)
        self.line = head.line
        self.fields["header"] = forms.IntegerField(
            label="Row that names the columns",
            required=False,
            min_value=1,
            initial=head.line,
            widget=UnfoldAdminIntegerFieldWidget,
            help_text="What stands above it, as a title, is left out.",
        )

    def chosen_header_row(self) -> int:
        """Return the row that the user names as header if it is a new one, else 0."""
        text = self.data.get("header", "")
        row = int(text) if text.isdecimal() and len(text) < 8 else 0
        return row if row != self.line else 0

    def _add_attributes(self, columns: list[tuple[str, str]]) -> None:
        assigned = set(self.saved.fields.values())
        if len(columns) > 1:
            self.fields["attributes"] = forms.MultipleChoiceField(
                label="Kept as attributes",
                choices=columns,
                required=False,
                initial=[self.places[c] for c in self.saved.attributes if c not in assigned],
                widget=forms.CheckboxSelectMultiple,
            )

    def _add_survey(self, survey: ColumnPlan) -> None:
        """Add the choice between one answer and one worker per row."""
        for name in ("question", "response"):
            self.fields[name].required = False
        self.fields["shape"] = forms.ChoiceField(
            label="Each row is",
            choices=[("", "one answer"), (SURVEY, "a worker, with a column for each question")],
            required=False,
            initial=SURVEY if self.saved.questions else "",
            widget=UnfoldAdminSelectWidget,
        )
        ticked = self.saved.questions or survey.questions
        if survey.questions:
            pairs = survey.questions.items()
            self.fields["questions"] = forms.MultipleChoiceField(
                label="Then these columns are answers to the questions that they name",
                choices=[
                    (str(self.places[column]), _pair_value(column, key)) for column, key in pairs
                ],
                required=False,
                initial=[self.places[column] for column in ticked],
                widget=forms.CheckboxSelectMultiple,
            )
        for place, column in self.columns.items():
            if column not in survey.questions and column != survey.fields.get("worker"):
                self.fields[OTHER + place] = forms.CharField(
                    label=column,
                    required=False,
                    initial=self.saved.questions.get(column, ""),
                    widget=UnfoldAdminTextInputWidget(
                        {"list": "questions-asked", "placeholder": "left out"}
                    ),
                )

    def usual_fields(self) -> Iterator[BoundField]:
        """Yield all fields except those of ``assignable_fields``."""
        return (self[name] for name in self.fields if not name.startswith(OTHER))

    def assignable_fields(self) -> Iterator[BoundField]:
        """Yield a field for each column that names no question: the question that it answers."""
        return (self[name] for name in self.fields if name.startswith(OTHER))

    def _add_encoding(self, upload: Upload, head: FileHead) -> None:
        detected = ENCODINGS.get(head.encoding, head.encoding.upper())
        automatic = detected if not upload.encoding else "as they look"
        self.fields["encoding"] = forms.ChoiceField(
            label="Letters read as",
            choices=[("", automatic), *ENCODINGS.items()],
            required=False,
            initial=upload.encoding,
            widget=UnfoldAdminSelectWidget,
            help_text="Where letters like ä or é look wrong below, choose another.",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.survey:
            if self._column_choices(cleaned) and not (
                cleaned.get("question") or cleaned.get("response")
            ):
                cleaned["shape"] = SURVEY
            self._refuse_neither(cleaned)
        names = self._fields_of(cleaned)
        chosen = [cleaned[name] for name in names if cleaned.get(name)]
        # The prompt's column may also be the question's name.
        repeated = [place for place in set(chosen) if chosen.count(place) > 1]
        if any(place != cleaned.get("question") for place in repeated):
            raise ValidationError("One column is chosen for two things; choose another for one.")
        return cleaned

    def _fields_of(self, cleaned: dict[str, Any]) -> list[str]:
        """Return the fields that have a column."""
        if cleaned.get("shape") == SURVEY:
            return ["worker"]
        return [field.name for field in FIELDS[self.saved.kind]]

    def _refuse_neither(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("shape") != SURVEY:
            for name in ("question", "response"):
                if not cleaned.get(name):
                    self.add_error(name, "Choose the column that has this.")
        else:
            self._refuse_survey(cleaned)

    def _refuse_survey(self, cleaned: dict[str, Any]) -> None:
        try:
            plan = self._survey_plan(cleaned)
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal
        if not plan.questions:
            raise ValidationError("Tick the columns that have answers, or say of which question.")

    def plan(self) -> ColumnPlan:
        """Return the plan that was chosen."""
        cleaned = self.cleaned_data
        names = self._fields_of(cleaned)
        fields = {name: self.columns[cleaned[name]] for name in names if cleaned.get(name)}
        if self.survey and cleaned["shape"] == SURVEY:
            return self._survey_plan(cleaned)
        attributes = [self.columns[place] for place in cleaned.get("attributes", [])]
        return ColumnPlan(
            self.saved.kind,
            "" if self.saved.questions else self.saved.title,
            fields,
            [column for column in attributes if column not in fields.values()],
            headed=cleaned.get("headed", True),
            only=self.saved.only,
            repeats=self.saved.repeats,
            header=self.saved.header,
        )

    def _survey_plan(self, cleaned: dict[str, Any]) -> ColumnPlan:
        """Return the plan of the ticked columns and the assigned ones. Raises Refused."""
        assert self.survey is not None
        place = cleaned.get("worker")
        fields = {"worker": self.columns[place]} if place else {}
        ticked = {self.columns[place] for place in cleaned.get("questions", ())}
        questions = {c: key for c, key in self.survey.questions.items() if c in ticked}
        if fields.get("worker") in questions:
            raise Refused("The column with the worker's id has no answers.")
        plan = replace(self.survey, fields=fields, questions=questions, header=self.saved.header)
        columns, names = list(self.columns.values()), surveys.question_names(self.questions_asked)
        return surveys.assign_columns(plan, columns, self._column_choices(cleaned), names)

    def _column_choices(self, cleaned: dict[str, Any]) -> list[tuple[str, str]]:
        """Return (column, question) for each column that the user assigned."""
        pairs = [(column, cleaned.get(OTHER + place)) for place, column in self.columns.items()]
        return [(column, name) for column, name in pairs if name]


def _pair_value(column: str, key: str) -> str:
    return column if column == key else f"{column} ({key})"
