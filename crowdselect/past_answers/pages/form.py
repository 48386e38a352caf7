"""The form for trying past answers: their source and the settings of the selection."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from crowdselect.past_answers.replay_requests import Source
from selection.accounts import has_multiple_teams, scoped
from selection.admin import styled
from selection.admin.forms import file_field
from selection.errors import Refused
from selection.imports.keyed_answers import read_upload
from selection.imports.readers.results import ALL, Choice
from selection.models import QuestionSet, Run, Team
from selection.runs import money

PERMISSION = "selection.add_run"
PRECISIONS = [
    ("0.2", "within 20 percentage points"),
    ("0.1", "within 10 percentage points"),
    ("0.05", "within 5 percentage points"),
    ("0.02", "within 2 percentage points"),
]
CONFIDENCES = [("0.2", "80%"), ("0.1", "90%"), ("0.05", "95%"), ("0.01", "99%")]


def _choice_field(label: str, choices: Any, initial: str) -> forms.ChoiceField:
    return styled.ChoiceField(label=label, choices=choices, initial=initial)


LABELS = {"variant": "Filter or prompt", "reading": "Correct answers are written as"}


def build_results_form(choices: Sequence[Choice]) -> forms.Form:
    form = forms.Form()
    for choice in choices:
        options = [
            (o, "All tasks" if (choice.name, o) == ("task", ALL) else choice.words.get(o, o))
            for o in choice.options
        ]
        empty = [] if choice.picked else [("", "Choose one")]
        label = LABELS.get(choice.name, choice.name.capitalize())
        form.fields[choice.name] = _choice_field(label, [*empty, *options], choice.picked)
    return form


class PastForm(forms.Form):
    """The form; once valid, ``source``, ``wanted`` and ``team`` are its content."""

    answers = file_field("Answers")
    key = file_field("Correct answers (optional)")
    run: Any = styled.ModelChoiceField(
        None, label="Run", empty_label="Choose a run", required=False
    )
    question_set: Any = styled.ModelChoiceField(
        None, label="Question set", empty_label="Choose a question set", required=False
    )
    team: Any = styled.ModelChoiceField(None, label="Team")
    k = styled.IntegerField(
        label="Workers to select (K)", initial=5, min_value=1, max_value=100_000
    )
    precise = _choice_field("Precision", PRECISIONS, "0.1")
    sure = _choice_field("Confidence", CONFIDENCES, "0.05")
    budget = styled.IntegerField(
        label="Budget in answers", required=False, min_value=1, max_value=2**31 - 1
    )
    price = styled.DecimalField(
        label="Cost per answer",
        required=False,
        min_value=Decimal(0),
        max_digits=12,
        decimal_places=4,
    )
    currency = styled.CharField(label="Currency", required=False, max_length=10)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        runs = scoped(Run, request, PERMISSION).filter(further=None)
        fields["run"].queryset = runs.exclude(status=Run.Status.DRAFT).order_by("-pk")
        fields["question_set"].queryset = scoped(QuestionSet, request, PERMISSION).order_by("name")
        self.teams = scoped(Team, request, PERMISSION)
        fields["team"].queryset = self.teams
        if not has_multiple_teams(request):
            del self.fields["team"]
        else:
            fields["team"].required = False
        self.initial.setdefault("currency", money.last_currency(scoped(Run, request)))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.source = self._build_source(cleaned)
                self.team = self._choose_team(cleaned)
            except Refused as refusal:
                raise ValidationError(str(refusal)) from refusal
            price = cleaned["price"]
            self.wanted = {
                "k": cleaned["k"],
                "epsilon": float(cleaned["precise"]),
                "delta": float(cleaned["sure"]),
                "budget": cleaned["budget"],
                "price": None if price is None else float(price),
                "currency": cleaned["currency"],
            }
        return cleaned

    def _build_source(self, cleaned: dict[str, Any]) -> Source:
        return Source(
            answers=read_upload(cleaned["answers"]),
            key=read_upload(cleaned["key"]),
            run=cleaned["run"],
            question_set=cleaned["question_set"],
        )

    def _choose_team(self, cleaned: dict[str, Any]) -> int:
        owner = cleaned["run"] or cleaned["question_set"]
        if owner:
            return int(owner.team_id)
        team = cleaned.get("team") or (self.teams.first() if "team" not in self.fields else None)
        if team is None:
            raise Refused("Choose the team that can see the result.")
        return int(team.pk)
