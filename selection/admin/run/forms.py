"""A run's form: fields by algorithm, and one sentence per refusal."""

import json
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import construct_instance
from django.http import HttpRequest
from django.utils.html import format_html

from selection import reports
from selection.accounts import scoped
from selection.admin import styled
from selection.admin.run.fields import EligibilityFields, selected_choices
from selection.admin.safe_lookups import parse_id
from selection.admin.setting_fields import LABELS
from selection.models import Pool, QuestionSet, Run, Skill
from selection.runs import money
from selection.runs.roster import eligibility, join_platforms, quotas, worker_prices
from selection.runs.settings import algorithm_choices, drafts, validation
from selection.runs.settings.run_settings import INITIAL, NAMES, STORED
from selection.template_filters import term

from .fields import (
    ALGORITHM_OPTIONS,
    OptionFields,
    QuotaFields,
    attribute_choices,
    options_given,
    quotas_given,
)

LARGEST_INTEGER = 2**31 - 1
# Programs that send the form may omit these: then they stay, or are those of the column.
OMITTED = ("completion", "met", "one_kind_each")
# The permissions that open the form.
EDIT_PERMISSIONS = ("selection.add_run", "selection.change_run")


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
        if not self.instance.pk:
            self.initial.setdefault("seed", drafts.new_seed())
            self.initial["currency"] = money.last_currency(scoped(Run, self.request))
            # Replaced by run_form.js with the recommended one once pool and questions are chosen,
            # unless a person has chosen: in a refused form, or by a link.
            initial = kwargs.get("initial") or {}
            self.initial |= INITIAL | initial
            if self.is_bound or "algorithm" in initial:
                self.fields["algorithm"].widget.attrs["data-chosen"] = "true"
        chosen = str(self["quota_attribute"].value() or "")
        widget = self.fields["quota_attribute"].widget
        widget.choices = attribute_choices(self._pool_shown(), chosen)

    def _pool_shown(self) -> Pool | None:
        pk = parse_id(str(self["pool"].value() or ""))
        return (
            scoped(Pool, self.request, *EDIT_PERMISSIONS).filter(pk=pk).first()
            if pk is not None
            else None
        )

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
            chosen = _selected_workers(scoped(Run, self.request).get(pk=source))
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

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self.instance, name) for name in STORED}

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

    def new_skills(self) -> list[Skill]:
        """List the skills of a new run, stored on its creation; the admin logs them as added."""
        self.new_objects = [form.instance for form in self._remaining_forms()]
        self.changed_objects: list[Any] = []
        self.deleted_objects: list[Any] = []
        return self.new_objects

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


class GuaranteeForm(OptionFields):
    """The settings in a run's form on which the guarantee depends; any of them may be missing.

    Pools and question sets are limited to those that the user may use, as in the run's form.
    """

    pool: Any = forms.ModelChoiceField(None, required=False)
    k = forms.IntegerField(required=False, max_value=LARGEST_INTEGER)
    algorithm = forms.ChoiceField(
        required=False, choices=Run._meta.get_field("algorithm").flatchoices
    )
    epsilon = styled.FloatField(required=False)
    delta = styled.FloatField(required=False)
    budget = forms.IntegerField(required=False)
    enrolling = forms.BooleanField(required=False)
    # Needed for the price only.
    question_set: Any = forms.ModelChoiceField(None, required=False)
    price = styled.DecimalField(required=False, min_value=0)
    currency = forms.CharField(required=False)
    pass_mark = styled.FloatField(required=False)
    quota_attribute = forms.CharField(required=False)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = scoped(Pool, request, *EDIT_PERMISSIONS)
        self.fields["question_set"].queryset = scoped(QuestionSet, request, *EDIT_PERMISSIONS)

    def run(self) -> Run:
        """Build the run with the settings that are given; a missing K is 1."""
        self.full_clean()
        cleaned = self.cleaned_data
        names = (*validation.HARMLESS, "algorithm", "enrolling", "pass_mark")
        data = {name: cleaned[name] for name in names if cleaned.get(name) not in (None, "")}
        if attribute := cleaned.get("quota_attribute"):  # their limits change no guarantee
            data["quotas"] = {"attribute": attribute, "limits": {}}
        return Run(**{"k": 1} | data, options=options_given(cleaned.get("algorithm", ""), cleaned))

    def priced_run(self) -> Run | None:
        """Build the run as far as its price depends on it; None if a needed setting is missing."""
        run, cleaned = self.run(), self.cleaned_data
        if any(cleaned.get(name) is None for name in ("pool", "question_set", "k")):
            return None
        run.pool, run.question_set = cleaned["pool"], cleaned["question_set"]
        run.price, run.currency = cleaned.get("price"), cleaned.get("currency", "")
        return run

    def pool_chosen(self) -> Pool | None:
        return self.cleaned_data.get("pool")


def _selected_workers(run: Run) -> list[str]:
    return [line.worker for line in reports.run_standings(run).lines if line.selected]
