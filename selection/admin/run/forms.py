"""A run's form: fields by algorithm, and one sentence per refusal."""

import json
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import construct_instance
from django.http import HttpRequest
from django.utils.html import format_html

from selection.accounts import scoped
from selection.admin.run_fields import (
    ALGORITHM_OPTIONS,
    EligibilityFields,
    OptionFields,
    QuotaFields,
    name_known_attributes,
    options_given,
    quotas_given,
    selected_choices,
    selected_workers,
)
from selection.admin.setting_fields import LABELS
from selection.models import Run, Skill
from selection.runs.roster import eligibility, join_platforms, quotas, worker_prices
from selection.runs.settings import algorithm_choices, validation
from selection.runs.settings.run_settings import NAMES
from selection.template_filters import term

# Programs that send the form may omit these: then they stay, or are those of the column.
OMITTED = ("completion", "met", "one_kind_each")


# Anchors on the page of terms, by field.
TERMS = {"epsilon": "epsilon", "delta": "delta", "budget": "budget"}


class RunForm(QuotaFields, EligibilityFields, OptionFields, forms.ModelForm):
    """The form of a draft. ``request`` is set by its admin (scope.TeamForm)."""

    request: ClassVar[HttpRequest]

    class Meta:
        model = Run
        labels = LABELS
        help_texts = {
            "budget": "In answers: the maximum number of assignments. Leave blank for no limit; "
            "algorithms with a fixed budget need one."
        }
        fields = NAMES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in validation.HARMLESS:  # it refuses values out of range
            self.fields[name].validators = []
        for name, anchor in TERMS.items():
            field = self.fields[name]
            field.help_text = format_html("{} {}", field.help_text, term(anchor, "More"))
        self.fields["algorithm"].widget.attrs["data-needs"] = json.dumps(
            algorithm_choices.fields_read_by_algorithm()
        )
        self._offer_choices("only_from", selected_choices(scoped(Run, self.request)))
        for name in OMITTED:
            self.fields[name].required = False
        self.initial = {**self._stored(), **self.initial}
        name_known_attributes(self.fields["quota_attribute"], self.instance.pool)

    def _offer_choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def _stored(self) -> dict[str, Any]:
        stored_quotas = self.instance.quotas or {"attribute": "", "limits": {}}
        values = {
            "quota_attribute": stored_quotas["attribute"],
            "quota_lines": quotas.text_of(stored_quotas["limits"]),
        }
        options = self.instance.options
        return values | {
            name: options[setting.option.name]
            for name, setting in ALGORITHM_OPTIONS.items()
            if setting.option.name in options
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._refuse_if_started()
        if source := cleaned.get("only_from"):
            chosen = selected_workers(scoped(Run, self.request).get(pk=source))
            cleaned["only"] = sorted({*cleaned.get("only", []), *chosen})
        for name in OMITTED:
            if cleaned.get(name) == "":
                del cleaned[name]
        run: Run = construct_instance(self, self.instance, NAMES)
        algorithm = cleaned.get("algorithm", "")
        if algorithm:
            run.options = options_given(algorithm, cleaned)
        run.quotas = quotas_given(cleaned)
        if cleaned.get("pool") and algorithm:
            self._validate_settings(run, {*cleaned})
        return cleaned

    def _validate_settings(self, run: Run, valid: set[str]) -> None:
        """Add the faults of the valid fields; invalid ones have a harmless value meanwhile."""
        for name in validation.HARMLESS.keys() - valid:
            setattr(run, name, validation.HARMLESS[name])
        if "question_set" in valid:
            run.deck_size = run.question_set.questions.count()
        faults = validation.validate_run(run, eligibility.count_eligible(run))
        faults |= validation.validate_closing_time(run, run.enrol_until)
        faults |= join_platforms.validate_platform(run)
        if {"k", "quota_attribute", "quota_lines"} <= valid - faults.keys():
            faults |= validation.validate_quotas(run)
        if {"by_price", "question_set"} <= valid - faults.keys():
            faults |= worker_prices.validate_prices(run)
        for field, reason in faults.items():
            if field in valid:
                self.add_error(field, reason)

    def _refuse_if_started(self) -> None:
        """Lock the run until it is saved. Raises ValidationError if it has started meanwhile."""
        if self.instance.pk is None:
            return
        locked = Run.objects.locked(self.instance.pk)
        if locked is None or locked.status != Run.Status.DRAFT:
            raise ValidationError("The run has been started meanwhile and cannot be changed now.")


class SkillFormSet(forms.BaseInlineFormSet):
    """The further skills of a run; the run's own form is validated before."""

    def clean(self) -> None:
        super().clean()
        run = self.instance
        remaining = self._remaining_forms()
        if any(self.errors) or not (run.pool_id and run.question_set_id and run.k):
            return
        for reason in validation.validate_skills(run, len(remaining)).values():
            raise ValidationError(reason)
        self._check_each(remaining)
        if remaining and not any(form.errors for form in remaining):
            self._check_together(remaining)

    def _remaining_forms(self) -> list[forms.ModelForm]:
        rows = [form for form in self.forms if form.cleaned_data.get("question_set")]
        return [form for form in rows if not form.cleaned_data.get("DELETE")]

    def _check_each(self, remaining: list[forms.ModelForm]) -> None:
        workers = validation.expected_workers(
            self.instance, eligibility.count_eligible(self.instance)
        )
        for form in remaining:
            for reason in validation.validate_team(self.instance, [form.instance]).values():
                form.add_error("question_set", reason)
            if form.instance.question_set_id == self.instance.question_set_id:
                form.add_error("question_set", "This is the run's first question set already.")
            for reason in validation.validate_run(Run(k=form.cleaned_data["k"]), workers).values():
                form.add_error("k", reason)

    def _check_together(self, remaining: list[forms.ModelForm]) -> None:
        run = self.instance
        first = Skill(question_set=run.question_set, k=run.k)
        run.skills = [first, *(form.instance for form in remaining)]
        for reason in validation.validate_run(run, eligibility.count_eligible(run)).values():
            raise ValidationError(reason)

    def save_new(self, form: forms.ModelForm, commit: bool = True) -> Skill:
        numbers = self.instance.further.values_list("number", flat=True)
        form.instance.number = max([0, *numbers]) + 1
        return super().save_new(form, commit)
