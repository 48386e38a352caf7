"""Form that assigns a file's columns to fields."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from unfold.widgets import UnfoldBooleanWidget

from selection.admin import styled
from selection.errors import Refused
from selection.grading.rules import DATES, UNITS
from selection.imports import surveys
from selection.imports.column_plan import FIELDS, QUESTIONS, WORKERS, ColumnPlan, Field
from selection.imports.key_readings import describe_example
from selection.imports.readers import ENCODINGS
from selection.imports.uploads import FileHead

SURVEY = "survey"
OTHER = "other-"  # before the place of a column that names no question
CHOOSE = "Choose the column."
COMPARISONS = ("text", "number", *UNITS, *DATES, "time")
_LISTS = ("options", "wrong", "context")  # of a plan

Choices = list[tuple[str, Any]]


class ColumnForm(forms.Form):
    """A column for each field, and for workers the columns kept as attributes. See ``plan``.

    The page asks for ``open_fields``; the others have a column already, or need none.
    """

    def __init__(
        self, plan: ColumnPlan, head: FileHead, data: Any = None, encoding: str = ""
    ) -> None:
        super().__init__(data)
        self.saved, self.line = plan, head.line
        self.columns = {str(place): name for place, name in enumerate(head.header) if name}
        self.places = {name: place for place, name in self.columns.items()}
        self.assigned = (head.survey.fields if head.survey else {}) | plan.fields
        self.missing = plan.missing_fields()
        for field in FIELDS[plan.kind]:
            self.fields[field.name] = self._column_field(field)
        if plan.kind == WORKERS:
            self._add_attributes()
        self.survey, self.questions_asked = head.survey, head.asked
        if head.survey:
            self._add_survey(head.survey)
        if plan.readings:
            self.fields["reading"] = self._reading_field(plan)
        if plan.kind == QUESTIONS:
            self.fields["compared"] = styled.ChoiceField(
                label="Comparison of typed answers",
                choices=[("", "As the answers show"), *((name, name) for name in COMPARISONS)],
                required=False,
                initial=plan.compared,
                help_text="Of questions without a type, tolerance or grading rule of their own.",
            )
        if len(self.columns) == 1:
            self.fields["headed"] = forms.BooleanField(
                label="The first line names the column",
                required=False,
                initial=plan.headed,
                widget=UnfoldBooleanWidget,
            )
        if head.encoding:
            self._add_encoding(encoding, head)
        self.fields["header"] = styled.IntegerField(
            label="Header row",
            required=False,
            min_value=1,
            initial=head.line,
            help_text="Rows above it are ignored.",
        )

    def _column_field(self, field: Field) -> forms.ChoiceField:
        column = self.assigned.get(field.name) or self._only_candidate(field)
        empty = "Choose a column" if field.needed else "Not in this file"
        return styled.ChoiceField(
            label=field.label,
            choices=[("", empty), *self._column_choices()],
            required=field.needed,
            initial=self.places.get(column, ""),
            error_messages={"required": CHOOSE},
        )

    def _reading_field(self, plan: ColumnPlan) -> forms.ChoiceField:
        answer = next(iter(plan.readings.values()))[0]
        options = [(name, describe_example(name, pair)) for name, pair in plan.readings.items()]
        return styled.ChoiceField(
            label=f"The answer “{answer}” is",
            choices=[("", "Choose one"), *options],
            initial=plan.reading,
            error_messages={"required": "Choose how the answers name the choices."},
        )

    def _only_candidate(self, field: Field) -> str:
        free = self.unassigned_columns
        return free[0] if self.missing == [field] and len(free) == 1 else ""

    def _column_choices(self) -> Choices:
        free, columns = self.unassigned_columns, list(self.columns.items())
        unrecognised = [(place, name) for place, name in columns if name in free]
        recognised = [(place, name) for place, name in columns if name not in free]
        if not unrecognised or not recognised:
            return columns
        return [("Not recognised", unrecognised), ("Recognised", recognised)]

    @property
    def unassigned_columns(self) -> list[str]:
        """Columns without a meaning; attributes do not matter until all are assigned."""
        plan = replace(self.saved, fields=self.assigned)
        if self.missing:
            plan = replace(plan, attributes=[])
        return plan.unread_columns(list(self.columns.values()))

    def chosen_header_row(self) -> int:
        """Find the row that the user names as header if it is a new one, else 0."""
        text = self.data.get("header", "")
        row = int(text) if text.isdecimal() and len(text) < 8 else 0
        return row if row != self.line else 0

    def _add_attributes(self) -> None:
        assigned = set(self.saved.fields.values())
        if len(self.columns) > 1:
            self.fields["attributes"] = forms.MultipleChoiceField(
                label="Worker attributes",
                choices=list(self.columns.items()),
                required=False,
                initial=[self.places[c] for c in self.saved.attributes if c not in assigned],
                widget=forms.CheckboxSelectMultiple,
            )

    def _add_survey(self, survey: ColumnPlan) -> None:
        for name in ("question", "response"):
            self.fields[name].required = False
        self.fields["shape"] = styled.ChoiceField(
            label="Each row is",
            choices=[("", "one answer"), (SURVEY, "one worker, with a column per question")],
            required=False,
            initial=SURVEY if self.saved.questions else "",
        )
        ticked = self.saved.questions or survey.questions
        if survey.questions:
            pairs = survey.questions.items()
            self.fields["questions"] = forms.MultipleChoiceField(
                label="Columns with answers",
                choices=[
                    (str(self.places[column]), (column if column == key else f"{column} ({key})"))
                    for column, key in pairs
                ],
                required=False,
                initial=[self.places[column] for column in ticked],
                widget=forms.CheckboxSelectMultiple,
            )
        for place, column in self.columns.items():
            if column not in survey.questions and column != survey.fields.get("worker"):
                self.fields[OTHER + place] = styled.CharField(
                    label=column,
                    required=False,
                    initial=self.saved.questions.get(column, ""),
                    attrs={"list": "questions-asked", "placeholder": "Left out"},
                )

    def open_fields(self) -> list[BoundField]:
        """List the fields that need a column, with the shape of the rows if it is unclear."""
        missing = [field.name for field in self.missing]
        asked = ["reading"] if self.saved.is_open and "reading" in self.fields else []
        return [self[name] for name in ["shape"] * self.may_be_survey + missing + asked]

    @property
    def is_open(self) -> bool:
        return self.saved.is_open

    @property
    def may_be_survey(self) -> bool:
        """Tell if neither columns with answers nor one with the question are known."""
        plan = self.saved
        return bool(self.survey) and not plan.questions and "question" not in plan.fields

    def remaining_fields(self) -> list[BoundField]:
        """List the fields except those of ``open_fields`` and ``assignable_fields``."""
        first = {field.name for field in self.open_fields()}
        names = [name for name in self.fields if name not in first and not name.startswith(OTHER)]
        return [self[name] for name in names]

    def assignable_fields(self) -> list[BoundField]:
        """List a field for each column that names no question: the question that it answers."""
        return [self[name] for name in self.fields if name.startswith(OTHER)]

    def has_hidden_errors(self) -> bool:
        return any(field.errors for field in self.remaining_fields())

    def assigned_columns(self) -> Iterator[tuple[str, str]]:
        for field in FIELDS[self.saved.kind]:
            column = self.saved.fields.get(field.name)
            if column:
                yield field.label, column if self.saved.headed else "the only column"
        for label, columns in zip(("Choices", "Wrong choices", "Context"), _LISTS, strict=True):
            if listed := getattr(self.saved, columns):
                yield label, ", ".join(listed)

    def _add_encoding(self, encoding: str, head: FileHead) -> None:
        detected = ENCODINGS.get(head.encoding, head.encoding.upper())
        self.fields["encoding"] = styled.ChoiceField(
            label="Character encoding",
            choices=[("", "Automatic" if encoding else detected), *ENCODINGS.items()],
            required=False,
            initial=encoding,
            help_text="Choose another if letters such as ä or é look wrong.",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.survey:
            if self._chosen_questions(cleaned) and not (
                cleaned.get("question") or cleaned.get("response")
            ):
                cleaned["shape"] = SURVEY
            self._refuse_neither(cleaned)
        names = self._names_of_fields(cleaned)
        chosen = [cleaned[name] for name in names if cleaned.get(name)]
        # The prompt's column may also be the question's name.
        repeated = [place for place in set(chosen) if chosen.count(place) > 1]
        if any(place != cleaned.get("question") for place in repeated):
            column = self.columns[repeated[0]]
            raise ValidationError(f"The column “{column}” is chosen twice; change one of the two.")
        return cleaned

    def _names_of_fields(self, cleaned: dict[str, Any]) -> Sequence[str]:
        if cleaned.get("shape") == SURVEY:
            return ["worker"]
        return [field.name for field in FIELDS[self.saved.kind]]

    def _refuse_neither(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("shape") != SURVEY:
            for name in ("question", "response"):
                if not cleaned.get(name):
                    self.add_error(name, CHOOSE)
        else:
            self._refuse_survey(cleaned)

    def _refuse_survey(self, cleaned: dict[str, Any]) -> None:
        try:
            plan = self._survey_plan(cleaned)
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal
        if not plan.questions:
            raise ValidationError(
                "Choose at least one column with answers, and the question that it answers."
            )

    def plan(self) -> ColumnPlan:
        cleaned = self.cleaned_data
        names = self._names_of_fields(cleaned)
        fields = {name: self.columns[cleaned[name]] for name in names if cleaned.get(name)}
        if self.survey and cleaned["shape"] == SURVEY:
            return self._survey_plan(cleaned)
        attributes = [self.columns[place] for place in cleaned.get("attributes", [])]
        kept = {name: getattr(self.saved, name) for name in _LISTS} | {"attributes": attributes}
        free = {name: [c for c in kept[name] if c not in fields.values()] for name in kept}
        return replace(
            self.saved,
            title="" if self.saved.questions else self.saved.title,
            fields=fields,
            headed=cleaned.get("headed", True),
            questions={},
            ticks={},
            skipped=0,
            remembered=False,
            reading=cleaned.get("reading", ""),
            compared=cleaned.get("compared", ""),
            **cast("dict[str, Any]", free),
        )

    def _survey_plan(self, cleaned: dict[str, Any]) -> ColumnPlan:
        """Build the plan of the ticked columns and the assigned ones. Raises Refused."""
        assert self.survey is not None
        place = cleaned.get("worker")
        fields = {"worker": self.columns[place]} if place else {}
        ticked = {self.columns[place] for place in cleaned.get("questions", ())}
        questions = {c: key for c, key in self.survey.questions.items() if c in ticked}
        if fields.get("worker") in questions:
            raise Refused("The column with the worker's id has no answers.")
        plan = replace(self.survey, fields=fields, questions=questions, header=self.saved.header)
        columns, names = list(self.columns.values()), surveys.question_names(self.questions_asked)
        return surveys.assign_columns(plan, columns, self._chosen_questions(cleaned), names)

    def _chosen_questions(self, cleaned: dict[str, Any]) -> list[tuple[str, str]]:
        pairs = [(column, cleaned.get(OTHER + place)) for place, column in self.columns.items()]
        return [(column, name) for column, name in pairs if name]
