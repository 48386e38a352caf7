"""A run's form: it asks for what the chosen algorithm reads, and refuses with one sentence each."""

import json
import secrets
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from . import algorithms, offers, priors, quotas
from .algorithms import MEANINGS
from .errors import Refused
from .models import Pool, Run, Skill
from .offers import Setting

# The settings of a run that have a range; the sentences about them come from offers.refusals.
RANGES = ("k", "epsilon", "delta", "budget")
MOST = 2**31 - 1


# -- a field for each option that any algorithm has


def setting_field(setting: Setting) -> forms.Field:
    """Empty means the default, so that a later version's better default is not kept out."""
    option = setting.option
    about: dict[str, Any] = {
        "label": setting.label,
        "required": False,
        "help_text": _help(setting),
    }
    if option.kind == "flag":
        return forms.BooleanField(widget=UnfoldBooleanSwitchWidget(), **about)
    if option.kind == "choice":
        choices = [(choice, choice.capitalize()) for choice in option.choices]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget(), **about)
    attrs = {"placeholder": _default(option.default)}
    if option.kind == "integer":
        return forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget(attrs), **about)
    return forms.FloatField(widget=UnfoldAdminDecimalFieldWidget(attrs), **about)


def _default(value: Any) -> str:
    return "worked out" if value is None else f"{value:.4g}"


def _help(setting: Setting) -> str:
    """The option's own sentence; who reads it is hidden where a script shows only what is read."""
    users = format_html('<span class="cs-noscript"> Read by {}.</span>', ", ".join(setting.titles))
    meanings = format_html_join(
        "",
        "<br><strong>{}</strong>: {}.",
        [(choice.capitalize(), MEANINGS[choice]) for choice in _explained(setting)],
    )
    return format_html("{}{}{}", setting.option.about, meanings, users)


def _explained(setting: Setting) -> list[str]:
    return [choice for choice in setting.option.choices if choice in MEANINGS]


SETTINGS = {f"option_{setting.option.name}": setting for setting in offers.settings()}
OptionFields: Any = type(
    "OptionFields",
    (forms.Form,),
    {name: setting_field(setting) for name, setting in SETTINGS.items()},
)


def options_given(algorithm: str, cleaned: dict[str, Any]) -> dict[str, Any]:
    """What was set, of what this algorithm reads, where it is not the default."""
    return {
        setting.option.name: cleaned[name]
        for name, setting in SETTINGS.items()
        if algorithm in setting.algorithms
        and cleaned.get(name) not in (None, "", setting.option.default)
    }


# -- quotas


class QuotaFields(forms.Form):
    quota_attribute = forms.CharField(
        label="Attribute of the workers",
        required=False,
        max_length=200,
        help_text="A column of the workers' file, language for one.",
        widget=UnfoldAdminSelectWidget(),
    )
    quota_lines = forms.CharField(
        label="How many of each value",
        required=False,
        help_text="A value to a line. English: 2-4 is at least 2 and at most 4; 2 is exactly 2, "
        "2- at least 2, -4 at most 4. Values that are not named are not limited.",
        widget=UnfoldAdminTextareaWidget(
            {"rows": 4, "placeholder": "English: 2-4\nSpanish: 1-", "spellcheck": "false"}
        ),
    )

    def clean_quota_attribute(self) -> str:
        """Columns are kept in small letters."""
        return str(self.cleaned_data["quota_attribute"]).strip()

    def clean_quota_lines(self) -> dict[str, Any]:
        try:
            return quotas.parse(self.cleaned_data["quota_lines"])
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal


def attribute_choices(pool: Pool | None, chosen: str) -> list[tuple[str, str]]:
    """What this pool's workers have; run_form.js does the same when another pool is chosen."""
    names = list(quotas.attributes(pool)) if pool else []
    if chosen and chosen not in names:
        names.append(chosen)  # so that the refusal names it
    return [("", "No quotas"), *((name, name) for name in names)]


def quotas_given(cleaned: dict[str, Any]) -> dict[str, Any]:
    attribute, limits = cleaned.get("quota_attribute"), cleaned.get("quota_lines")
    return {"attribute": attribute or "", "limits": limits} if attribute or limits else {}


# -- an earlier run to learn from

KEPT = "kept"


class LearnField(forms.Form):
    learn_from = forms.ChoiceField(
        label="Learn from an earlier run",
        required=False,
        widget=UnfoldAdminSelectWidget(),
        error_messages={
            "invalid_choice": "That run is gone or cannot be learned from; choose another or none."
        },
        help_text="Takes over how good that run's workers were on the whole, as if "
        f"{priors.WORTH} such workers had been seen; nothing about any one of them. It helps most "
        "in small pools. Choose one whose workers and questions were like these: nothing else "
        "makes sure of that.",
    )


def learn_choices(run: Run) -> list[Any]:
    """Earlier runs by question set; what was taken over before comes first."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for source in priors.sources():
        grouped.setdefault(source.question_set, []).append((str(source.pk), str(source)))
    learned = priors.learned(run)
    nothing = "Nothing" if grouped or learned else "Nothing: no run with answers has ended yet"
    kept = [(KEPT, f"As taken over from {learned}")] if learned else []
    return [("", nothing), *kept, *grouped.items()]


def prior_given(algorithm: str, chosen: str, run: Run) -> dict[str, Any]:
    """The option ``prior`` for what was chosen, where this algorithm reads it."""
    if not chosen or not algorithms.learns(algorithm):
        return {}
    return {"prior": run.options["prior"] if chosen == KEPT else priors.copy(int(chosen))}


# -- the forms


class RunForm(QuotaFields, LearnField, OptionFields, forms.ModelForm):
    """A run, while it is a draft."""

    class Meta:
        model = Run
        # The admin writes the first letter large, and ε would read as E.
        labels = {"epsilon": "Accuracy ε", "delta": "Risk δ"}
        help_texts = {
            "budget": "Most assignments to hand out in all. Left empty there is no limit; an "
            "algorithm that spends a fixed budget needs one."
        }
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
        computed = ["options", "quotas"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in RANGES:
            self.fields[name].validators = []
        self.fields["algorithm"].widget.attrs["data-needs"] = json.dumps(offers.needs())
        self._offer("learn_from", learn_choices(self.instance))
        self.initial = {**self._stored(), **self.initial}
        if not self.instance.pk:
            self.initial.setdefault("seed", secrets.randbelow(2**31))
        chosen = str(self["quota_attribute"].value() or "")
        widget = self.fields["quota_attribute"].widget
        widget.choices = attribute_choices(self._pool_shown(), chosen)

    def _pool_shown(self) -> Pool | None:
        pk = str(self["pool"].value() or "")
        return Pool.objects.filter(pk=pk).first() if pk.isdecimal() else None

    def _offer(self, name: str, choices: list[Any]) -> None:
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
        algorithm = cleaned.get("algorithm", "")
        self.instance.options = options_given(algorithm, cleaned) | self._prior(algorithm, cleaned)
        self.instance.quotas = quotas_given(cleaned)
        pool = cleaned.get("pool")
        if pool is None or not algorithm:
            return cleaned
        run = Run(**_given(cleaned), options=self.instance.options)
        for field, why in offers.refusals(run, pool.workers.count()).items():
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
        for field, why in offers.quota_refusals(run, pool).items():
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
        rows = [form for form in self.forms if form.cleaned_data.get("question_set")]
        kept = [form for form in rows if not form.cleaned_data.get("DELETE")]
        if any(self.errors) or not (run.pool_id and run.question_set_id and run.k):
            return
        for why in offers.skill_refusals(run, len(kept)).values():
            raise ValidationError(why)
        self._check_each(kept)
        if kept and not any(form.errors for form in kept):
            self._check_together(kept)

    def _check_each(self, kept: list[forms.ModelForm]) -> None:
        workers = self.instance.pool.workers.count()
        for form in kept:
            if form.cleaned_data["question_set"].pk == self.instance.question_set_id:
                form.add_error("question_set", "This is the run's first question set already.")
            for why in offers.refusals(Run(k=form.cleaned_data["k"]), workers).values():
                form.add_error("k", why)

    def _check_together(self, kept: list[forms.ModelForm]) -> None:
        run = self.instance
        own = Skill(question_set=run.question_set, k=run.k)
        run.skills = [own, *(form.instance for form in kept)]
        for why in offers.refusals(run, run.pool.workers.count()).values():
            raise ValidationError(why)

    def save_new(self, form: forms.ModelForm, commit: bool = True) -> Skill:
        numbers = self.instance.further.values_list("number", flat=True)
        form.instance.number = max([0, *numbers]) + 1
        return super().save_new(form, commit)


class PromiseForm(OptionFields):
    """What a promise depends on, as it stands in a run's form: any of it may be missing."""

    pool = forms.ModelChoiceField(Pool.objects.all(), required=False)
    k = forms.IntegerField(required=False, max_value=MOST)
    algorithm = forms.ChoiceField(
        required=False, choices=Run._meta.get_field("algorithm").flatchoices
    )
    epsilon = forms.FloatField(required=False)
    delta = forms.FloatField(required=False)
    budget = forms.IntegerField(required=False)

    def run(self) -> Run:
        self.full_clean()
        options = options_given(self.cleaned_data.get("algorithm", ""), self.cleaned_data)
        return Run(**_given(self.cleaned_data), options=options)

    def pool_chosen(self) -> Pool | None:
        return self.cleaned_data.get("pool")


def _given(cleaned: dict[str, Any]) -> dict[str, Any]:
    """The settings a promise depends on, where given; 1 stands for a K not given yet."""
    names = (*RANGES, "algorithm")
    given = {name: cleaned[name] for name in names if cleaned.get(name) not in (None, "")}
    return {"k": 1} | given
