"""Which column of a file is what."""

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
    """A choice of column for each field, and for workers which others are kept.

    ``plan`` is what was chosen.
    """

    def __init__(self, upload: Upload, head: FileHead, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = ColumnPlan(**upload.plan)
        columns = [(str(place), name) for place, name in enumerate(head.header) if name]
        self.columns = dict(columns)
        self.places = {name: place for place, name in columns}
        fields = (head.survey.fields if head.survey else {}) | self.known.fields
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
        self.survey, self.asked = head.survey, head.asked
        if head.survey:
            self._add_survey(head.survey)
        if len(columns) == 1:
            self.fields["headed"] = forms.BooleanField(
                label="The first line names the column",
                required=False,
                initial=self.known.headed,
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
        """The row that is said to name the columns, where it is another one; else 0."""
        said = self.data.get("header", "")
        row = int(said) if said.isdecimal() and len(said) < 8 else 0
        return row if row != self.line else 0

    def _add_attributes(self, columns: list[tuple[str, str]]) -> None:
        named = set(self.known.fields.values())
        if len(columns) > 1:
            self.fields["attributes"] = forms.MultipleChoiceField(
                label="Kept as attributes",
                choices=columns,
                required=False,
                initial=[self.places[c] for c in self.known.attributes if c not in named],
                widget=forms.CheckboxSelectMultiple,
            )

    def _add_survey(self, survey: ColumnPlan) -> None:
        """Each row is one answer, or all answers of a worker."""
        for name in ("question", "response"):
            self.fields[name].required = False
        self.fields["shape"] = forms.ChoiceField(
            label="Each row is",
            choices=[("", "one answer"), (SURVEY, "a worker, with a column for each question")],
            required=False,
            initial=SURVEY if self.known.questions else "",
            widget=UnfoldAdminSelectWidget,
        )
        ticked = self.known.questions or survey.questions
        if survey.questions:
            named = survey.questions.items()
            self.fields["questions"] = forms.MultipleChoiceField(
                label="Then these columns are answers to the questions that they name",
                choices=[
                    (str(self.places[column]), _pair_value(column, key)) for column, key in named
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
                    initial=self.known.questions.get(column, ""),
                    widget=UnfoldAdminTextInputWidget(
                        {"list": "questions-asked", "placeholder": "left out"}
                    ),
                )

    def usual(self) -> Iterator[BoundField]:
        """All fields but ``others``."""
        return (self[name] for name in self.fields if not name.startswith(OTHER))

    def others(self) -> Iterator[BoundField]:
        """A field for each column that names no question: which one it has the answers to."""
        return (self[name] for name in self.fields if name.startswith(OTHER))

    def _add_encoding(self, upload: Upload, head: FileHead) -> None:
        found = ENCODINGS.get(head.encoding, head.encoding.upper())
        by_itself = found if not upload.encoding else "as they look"
        self.fields["encoding"] = forms.ChoiceField(
            label="Letters read as",
            choices=[("", by_itself), *ENCODINGS.items()],
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
        # A question may be called by what it asks.
        several = [place for place in set(chosen) if chosen.count(place) > 1]
        if any(place != cleaned.get("question") for place in several):
            raise ValidationError("One column is chosen for two things; choose another for one.")
        return cleaned

    def _fields_of(self, cleaned: dict[str, Any]) -> list[str]:
        """Those that have a column of their own."""
        if cleaned.get("shape") == SURVEY:
            return ["worker"]
        return [field.name for field in FIELDS[self.known.kind]]

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
        cleaned = self.cleaned_data
        names = self._fields_of(cleaned)
        fields = {name: self.columns[cleaned[name]] for name in names if cleaned.get(name)}
        if self.survey and cleaned["shape"] == SURVEY:
            return self._survey_plan(cleaned)
        kept = [self.columns[place] for place in cleaned.get("attributes", [])]
        return ColumnPlan(
            self.known.kind,
            "" if self.known.questions else self.known.title,
            fields,
            [column for column in kept if column not in fields.values()],
            headed=cleaned.get("headed", True),
            only=self.known.only,
            repeats=self.known.repeats,
            header=self.known.header,
        )

    def _survey_plan(self, cleaned: dict[str, Any]) -> ColumnPlan:
        """What was ticked, and what was said of other columns. Raises Refused."""
        assert self.survey is not None
        place = cleaned.get("worker")
        fields = {"worker": self.columns[place]} if place else {}
        ticked = {self.columns[place] for place in cleaned.get("questions", ())}
        named = {c: key for c, key in self.survey.questions.items() if c in ticked}
        if fields.get("worker") in named:
            raise Refused("The column with the worker's id has no answers.")
        plan = replace(self.survey, fields=fields, questions=named, header=self.known.header)
        columns, names = list(self.columns.values()), surveys.question_names(self.asked)
        return surveys.assign_columns(plan, columns, self._column_choices(cleaned), names)

    def _column_choices(self, cleaned: dict[str, Any]) -> list[tuple[str, str]]:
        """(column, question) of those that name none by themselves."""
        said = [(column, cleaned.get(OTHER + place)) for place, column in self.columns.items()]
        return [(column, name) for column, name in said if name]


def _pair_value(column: str, key: str) -> str:
    return column if column == key else f"{column} ({key})"
