"""A run's form: it asks for what the chosen algorithm reads, and refuses with one sentence each."""

import json
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from selection import reports
from selection.accounts import scoped
from selection.admin.safe_lookups import parse_id
from selection.errors import Refused
from selection.models import Pool, QuestionSet, Run, Skill
from selection.models.runs import SETTINGS as RUN_SETTINGS
from selection.runs import algorithm_choices as choices
from selection.runs import drafts, eligibility, money, priors, quotas, validation

from .eligibility_fields import WhoFields, selected_choices
from .fields import (
    KEPT,
    SETTINGS,
    KindsField,
    LearnField,
    OptionFields,
    QuotaFields,
    attribute_choices,
    learn_choices,
    options_given,
    prior_given,
    quotas_given,
)

# The settings of a run that have a range; the sentences about them come from refusals.
RANGES = ("k", "epsilon", "delta", "budget")
MOST = 2**31 - 1
# Who has the form.
MAKES = ("selection.add_run", "selection.change_run")


class RunForm(QuotaFields, LearnField, KindsField, WhoFields, OptionFields, forms.ModelForm):
    """A run, while it is a draft. ``request`` is set by its admin (scope.TeamForm)."""

    request: ClassVar[HttpRequest]

    class Meta:
        model = Run
        # The admin writes the first letter large, and ε would read as E.
        labels = {"epsilon": "Accuracy ε", "delta": "Risk δ"}
        help_texts = {
            "budget": "Most assignments to hand out in all. Left empty there is no limit; an "
            "algorithm that spends a fixed budget needs one."
        }
        fields = ["name", *RUN_SETTINGS, "enrolling", "enrol_until", "enrol_most", "seed"]
        computed = ["options", "quotas"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in RANGES:
            self.fields[name].validators = []
        self.fields["algorithm"].widget.attrs["data-needs"] = json.dumps(
            choices.fields_read_by_algorithm()
        )
        self._offer_choices("only_from", selected_choices(scoped(Run, self.request)))
        self.fields["met"].required = False  # programs leave it out
        self._offer_choices("learn_from", learn_choices(self.instance, scoped(Run, self.request)))
        self.initial = {**self._stored(), **self.initial}
        if not self.instance.pk:
            self.initial.setdefault("seed", drafts.new_seed())
            self.initial["currency"] = money.last_currency(scoped(Run, self.request))
            # The algorithm until pool and questions are chosen: then run_form.js asks what fits.
            self.initial |= drafts.FORM_DEFAULTS
        chosen = str(self["quota_attribute"].value() or "")
        widget = self.fields["quota_attribute"].widget
        widget.choices = attribute_choices(self._pool_shown(), chosen)

    def _pool_shown(self) -> Pool | None:
        pk = parse_id(str(self["pool"].value() or ""))
        return scoped(Pool, self.request, *MAKES).filter(pk=pk).first() if pk is not None else None

    def _offer_choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def _stored(self) -> dict[str, Any]:
        """What the run holds in one column and the form shows in several fields."""
        asked = self.instance.quotas or {"attribute": "", "limits": {}}
        shown = {
            "learn_from": KEPT if "prior" in self.instance.options else "",
            "quota_attribute": asked["attribute"],
            "quota_lines": quotas.text_of(asked["limits"]),
        }
        options = self.instance.options
        return shown | {
            name: options[setting.option.name]
            for name, setting in SETTINGS.items()
            if setting.option.name in options
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._refuse_what_has_begun()
        if source := cleaned.get("only_from"):
            run = scoped(Run, self.request).get(pk=source)
            cleaned["only"] = sorted({*cleaned.get("only", []), *_selected_workers(run)})
        algorithm = cleaned.get("algorithm", "")
        self.instance.options = options_given(algorithm, cleaned) | self._prior(algorithm, cleaned)
        self.instance.quotas = quotas_given(cleaned)
        pool = cleaned.get("pool")
        if pool is None or not algorithm:
            return cleaned
        run = Run(
            pk=self.instance.pk, **_guarantee_settings(cleaned), options=self.instance.options
        )
        if asked := cleaned.get("question_set"):
            run.deck_size = asked.questions.count()
        found = validation.validate_run(run, _count_workers(run, cleaned, pool))
        found |= validation.validate_closing_time(run, cleaned.get("enrol_until"))
        for field, why in found.items():
            if field == "pool" or field in cleaned:
                self.add_error(field, why)
        self._check_quotas(pool)
        return cleaned

    def _prior(self, algorithm: str, cleaned: dict[str, Any]) -> dict[str, Any]:
        try:
            return prior_given(algorithm, cleaned.get("learn_from", ""), self.instance)
        except Refused as refusal:
            self.add_error("learn_from", str(refusal))
            return {}

    def _check_quotas(self, pool: Pool) -> None:
        asked, algorithm = self.instance.quotas, self.cleaned_data.get("algorithm", "")
        if not asked or {"k", "quota_attribute", "quota_lines"} & set(self.errors):
            return
        run = Run(k=self.cleaned_data["k"], algorithm=algorithm, quotas=asked)
        run.enrolling = bool(self.cleaned_data.get("enrolling"))
        for field, why in validation.validate_quotas(run, pool).items():
            self.add_error(field, why)

    def _refuse_what_has_begun(self) -> None:
        """It may have been started in another window; it stays locked until this is saved."""
        if self.instance.pk is None:
            return
        locked = Run.objects.locked(self.instance.pk)
        if locked is None or locked.status != Run.Status.DRAFT:
            raise ValidationError("The run has been started meanwhile and cannot be changed now.")


class SkillFormSet(forms.BaseInlineFormSet):
    """The further skills of a run; the run's own form has been looked at before."""

    def clean(self) -> None:
        super().clean()
        run = self.instance
        kept = self._kept()
        if any(self.errors) or not (run.pool_id and run.question_set_id and run.k):
            return
        for why in validation.validate_skills(run, len(kept)).values():
            raise ValidationError(why)
        self._check_each(kept)
        if kept and not any(form.errors for form in kept):
            self._check_together(kept)

    def _kept(self) -> list[forms.ModelForm]:
        rows = [form for form in self.forms if form.cleaned_data.get("question_set")]
        return [form for form in rows if not form.cleaned_data.get("DELETE")]

    def taken(self) -> list[Skill]:
        """The skills of a new run, whose creation stores them; the admin logs them as added."""
        self.new_objects = [form.instance for form in self._kept()]
        self.changed_objects: list[Any] = []
        self.deleted_objects: list[Any] = []
        return self.new_objects

    def _check_each(self, kept: list[forms.ModelForm]) -> None:
        workers = validation.expected_workers(
            self.instance, eligibility.count_eligible(self.instance)
        )
        for form in kept:
            for why in validation.validate_team(self.instance, [form.instance]).values():
                form.add_error("question_set", why)
            if form.instance.question_set_id == self.instance.question_set_id:
                form.add_error("question_set", "This is the run's first question set already.")
            for why in validation.validate_run(Run(k=form.cleaned_data["k"]), workers).values():
                form.add_error("k", why)

    def _check_together(self, kept: list[forms.ModelForm]) -> None:
        run = self.instance
        own = Skill(question_set=run.question_set, k=run.k)
        run.skills = [own, *(form.instance for form in kept)]
        for why in validation.validate_run(run, eligibility.count_eligible(run)).values():
            raise ValidationError(why)

    def save_new(self, form: forms.ModelForm, commit: bool = True) -> Skill:
        numbers = self.instance.further.values_list("number", flat=True)
        form.instance.number = max([0, *numbers]) + 1
        return super().save_new(form, commit)


class PromiseForm(OptionFields):
    """What a promise depends on, as it stands in a run's form: any of it may be missing.

    Of what is there, what a run may be made of can be chosen, as in the form itself.
    """

    pool: Any = forms.ModelChoiceField(None, required=False)
    k = forms.IntegerField(required=False, max_value=MOST)
    algorithm = forms.ChoiceField(
        required=False, choices=Run._meta.get_field("algorithm").flatchoices
    )
    epsilon = forms.FloatField(required=False)
    delta = forms.FloatField(required=False)
    budget = forms.IntegerField(required=False)
    enrolling = forms.BooleanField(required=False)
    # What it costs depends on these besides.
    question_set: Any = forms.ModelChoiceField(None, required=False)
    price = forms.DecimalField(required=False, min_value=0)
    currency = forms.CharField(required=False)
    learn_from = forms.CharField(required=False)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = scoped(Pool, request, *MAKES)
        self.fields["question_set"].queryset = scoped(QuestionSet, request, *MAKES)
        self.runs = scoped(Run, request)

    def run(self) -> Run:
        self.full_clean()
        options = options_given(self.cleaned_data.get("algorithm", ""), self.cleaned_data)
        return Run(**_guarantee_settings(self.cleaned_data), options=options)

    def priced_run(self) -> Run | None:
        """The run as far as its cost depends on it; None while something needed is missing."""
        run, given = self.run(), self.cleaned_data
        if any(given.get(name) is None for name in ("pool", "question_set", "k")):
            return None
        run.pool, run.question_set = given["pool"], given["question_set"]
        run.price, run.currency = given.get("price"), given.get("currency", "")
        learn = str(given.get("learn_from", ""))
        if learn.isdecimal() and len(learn) < 19 and self.runs.filter(pk=learn).exists():
            run.options |= {"prior": priors.copy_prior(int(learn))}
        return run

    def pool_chosen(self) -> Pool | None:
        return self.cleaned_data.get("pool")


def _selected_workers(run: Run) -> list[str]:
    return [line.worker for line in reports.run_standings(run).lines if line.selected]


def _count_workers(run: Run, cleaned: dict[str, Any], pool: Pool) -> int:
    """How many of the pool the run that is asked for is of."""
    run.pool, run.only, run.left_out = pool, cleaned.get("only", []), cleaned.get("left_out", [])
    run.met = cleaned.get("met") or Run.Met.AGAIN
    if asked := cleaned.get("question_set"):
        run.question_set = asked
    return eligibility.count_eligible(run)


def _guarantee_settings(cleaned: dict[str, Any]) -> dict[str, Any]:
    """What a promise depends on, and who may join, where given; 1 for a K not given yet."""
    names = (*RANGES, "algorithm", "enrolling", "enrol_most", "recorded_only")
    given = {name: cleaned[name] for name in names if cleaned.get(name) not in (None, "")}
    return {"k": 1} | given
