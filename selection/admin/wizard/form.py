"""The form of a run: of the guided start, with a plan and a belief, and of a stored draft."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from unfold.widgets import UnfoldAdminFileFieldWidget

from selection import algorithms, forecast
from selection.accounts import scoped
from selection.admin import styled
from selection.admin.run_fields import (
    ALGORITHM_OPTIONS,
    ELIGIBILITY,
    EligibilityFields,
    OptionFields,
    QuotaFields,
    name_known_attributes,
    options_given,
    quotas_given,
    selected_choices,
    selected_workers,
)
from selection.admin.safe_lookups import parse_id
from selection.admin.setting_fields import build_form_fields
from selection.errors import Refused
from selection.forecast import Belief, DefaultBelief, PastBelief, Plan, RangeBelief
from selection.forecast.plan import MOST_WORKERS
from selection.imports.keyed_answers import read_keyed_answers, read_upload, refuse_open_choices
from selection.models import Completion, Platform, Pool, QuestionSet, Run, Skill
from selection.runs import money
from selection.runs.roster import eligibility, join_platforms, quotas
from selection.runs.roster.worker_prices import AnswerPrice, expected_price
from selection.runs.settings import drafts, validation
from selection.runs.settings.algorithm_choices import fields_read_by_algorithm
from selection.runs.settings.run_settings import INITIAL, RUN_SETTINGS, RunSetting, Section
from selection.template_filters import term

from .choices import (
    ANSWERS,
    BELIEFS,
    BY_MONEY,
    CONFIDENCES,
    GOALS,
    OWN_NUMBER,
    PLACES,
    PRECISIONS,
    UNITS,
)
from .plan_input import FIELDS, FieldError, build_plan, parse_rule

# Settings that the form asks for in words of its own.
WORDED = ("pool", "question_set", "k", "algorithm", "epsilon", "delta", "budget")
GUIDE = tuple(s for s in RUN_SETTINGS if s.name not in (*WORDED, "enrol_most"))
# Settings that stand beside the answer to which they belong; the others are “All settings”.
PLACED = ("price", "currency", "pass_mark", "platform", "worker_parameter", "completion_url")
# Anchors on the page of terms, by field.
TERMS = {"precise_own": "epsilon", "sure_own": "delta", "spend": "budget"}
# Fields that one algorithm reads and another refuses.
OF_ALGORITHM = {"algorithm", "by_price", "pass_mark", "budget"}
# A browser sends the form on as an address, which servers limit.
LONGEST_ADDRESS = 6000
CROWD = ("belief", "low", "high", "run", "answers", "gold", "speed")


@dataclass(frozen=True)
class WizardInput:
    """The form's content, ready for a forecast and for a run.

    speed     answers per hour; None if unknown
    need      what the guarantee must cover: a value of choices.GOALS
    settings  those of the run that need no forecast, by name
    price     of an answer; for models their mean price
    algorithm the one that was chosen; empty: the recommended one
    further   the skills besides the question set
    """

    pool: Pool
    question_set: QuestionSet
    plan: Plan
    belief: Belief
    settings: dict[str, Any]
    speed: float | None
    by_money: bool
    need: str
    price: AnswerPrice
    algorithm: str = ""
    further: Sequence[Skill] = ()

    @property
    def currency(self) -> str:
        return str(self.settings["currency"])


def _number_field(label: str, **limits: Any) -> forms.DecimalField:
    return styled.DecimalField(label=label, required=False, **limits)


def _radio_field(label: str, choices: Any, initial: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, choices=choices, initial=initial, required=False, widget=forms.RadioSelect
    )


def _csv_field(label: str, about: str) -> forms.FileField:
    widget = UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.txt,text/csv"})
    return forms.FileField(label=label, required=False, help_text=about, widget=widget)


SettingFields: Any = build_form_fields(s for s in GUIDE if s.name not in ELIGIBILITY)


class GuideForm(QuotaFields, EligibilityFields, OptionFields, SettingFields):
    """The form of a new run; once valid, ``wish`` is its content."""

    pool: Any = styled.ModelChoiceField(None, label="Pool", empty_label="Choose a pool")
    question_set: Any = styled.ModelChoiceField(
        None, label="Question set", empty_label="Choose a question set"
    )
    k = styled.IntegerField(label="How many workers to select (K)", max_value=2**31 - 1)
    goal = _radio_field("Kind of guarantee", GOALS, "group")
    sure = _radio_field("How sure must the guarantee be?", CONFIDENCES, "0.05")
    sure_own = _number_field("Confidence in percent", max_value=Decimal("99.9999"))
    precise = _radio_field("How precise must the selection be?", PRECISIONS, "0.1")
    precise_own = _number_field("Within this many percentage points")
    spend = _number_field("Budget", max_digits=14, decimal_places=4)
    spend_unit = styled.ChoiceField(label="Unit of the budget", choices=UNITS, required=False)
    belief = _radio_field("How accurate do you expect these workers to be?", BELIEFS, "")
    low = _number_field("Lowest usual accuracy in percent")
    high = _number_field("Highest usual accuracy in percent")
    run = styled.ChoiceField(label="Earlier run", required=False)
    answers = _csv_field("Past answers", "A CSV file with the columns worker, task, label.")
    gold = _csv_field("Their key", "A CSV file with the columns task, label.")
    expected = styled.IntegerField(
        label="Expected number of workers",
        required=False,
        min_value=2,
        max_value=MOST_WORKERS,
        help_text="Workers of the pool count, too. The roster closes when so many have joined; you "
        "can close it earlier.",
    )
    speed = _number_field("Answers per hour (optional)")
    algorithm = styled.ChoiceField(
        label="Algorithm",
        required=False,
        choices=[("", "Recommended, by the estimate"), *algorithms.algorithm_choices()],
    )
    skills = styled.TextField(
        label="More question sets",
        required=False,
        help_text="On the same budget. One name per line, with its own number of workers (K). "
        "Audio: 3 selects 3 workers by the question set Audio.",
        attrs={"rows": 3, "spellcheck": "false"},
    )

    def __init__(
        self, *args: Any, request: HttpRequest, past: Belief | None = None, **kwargs: Any
    ) -> None:
        """Build the form. ``past`` is an earlier forecast's belief: files are not sent again."""
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        self.pools = scoped(Pool, request, "selection.add_run").order_by("name")
        self.question_sets = scoped(QuestionSet, request, "selection.add_run").order_by("name")
        self.runs = scoped(Run, request)
        fields["pool"].queryset, fields["question_set"].queryset = self.pools, self.question_sets
        self.past = past if isinstance(past, PastBelief) else None
        run = self.fields["run"]
        assert isinstance(run, forms.ChoiceField)
        run.choices = [
            ("", "Choose a run"),
            *forecast.list_past_runs(self.runs),
        ]
        self.initial.setdefault("currency", money.last_currency(self.runs))
        fields["price"].help_text = "Include platform fees."
        fields["platform"].label, fields["platform"].choices = "Platform", PLACES
        fields["platform"].help_text = "A platform sends people to a join link."
        fields["worker_parameter"].help_text = "The name before the id in the platform’s link."
        fields["completion_url"].help_text = "Leave blank to let workers enter a code there."
        for name, anchor in TERMS.items():
            fields[name].help_text = term(anchor, "More")
        fields["completion"].choices = [("", "As the platform needs"), *Completion.choices]
        fields["completion"].initial = ""
        self.initial = {**INITIAL, **self.initial}
        fields["name"].help_text = "Leave blank for a name that says what the run selects."
        fields["seed"].initial, fields["name"].initial = None, None
        fields["algorithm"].widget.attrs["data-needs"] = json.dumps(fields_read_by_algorithm())
        fields["only_from"].choices = selected_choices(self.runs)
        self._choose_only("pool", self.pools)
        self._choose_only("question_set", self.question_sets)
        name_known_attributes(fields["quota_attribute"], self._pool_shown())
        first = "k" if {"pool", "question_set"} <= self.initial.keys() else "pool"
        self.fields[first].widget.attrs["autofocus"] = True

    def _pool_shown(self) -> Pool | None:
        pk = parse_id(str(self["pool"].value() or ""))
        return self.pools.filter(pk=pk).first() if pk is not None else None

    def _choose_only(self, name: str, offered: QuerySet[Any]) -> None:
        choices = list(offered.values_list("pk", flat=True)[:2])
        if len(choices) == 1:
            self.initial.setdefault(name, choices[0])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.wish = self._build_wish(cleaned)
            except FieldError as error:
                self.add_error(error.field, str(error))
        return cleaned

    def _build_wish(self, cleaned: dict[str, Any]) -> WizardInput:
        """Raise FieldError with the field at fault."""
        run = Run(pool=cleaned["pool"], question_set=cleaned["question_set"])
        for field, reason in validation.validate_team(run).items():
            raise FieldError(field, reason)
        plan, settings = build_plan(cleaned), read_arrival(self._read_settings(cleaned))
        further = self._read_skills(cleaned)
        self._refuse_faults(plan, settings, cleaned, further)
        speed = cleaned["speed"]
        if speed is not None and not speed > 0:
            raise FieldError("speed", "Give more than 0 answers per hour, or no number.")
        return WizardInput(
            pool=cleaned["pool"],
            question_set=cleaned["question_set"],
            plan=plan,
            belief=self._build_belief(cleaned),
            settings=settings,
            speed=None if speed is None else float(speed),
            by_money=cleaned["precise"] == BY_MONEY,
            need=cleaned["goal"] or "group",
            price=expected_price(cleaned["pool"], cleaned["question_set"], cleaned["price"]),
            algorithm=cleaned["algorithm"],
            further=further,
        )

    def _read_settings(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """Collect the settings of the run that the plan does not have."""
        sent = [setting for setting in GUIDE if _is_sent(setting, self.data)]
        settings = read_settings(cleaned, sent)
        if cleaned["platform"] or cleaned["enrolling"]:
            settings["enrol_most"] = cleaned["expected"]
        if source := cleaned["only_from"]:
            chosen = selected_workers(self.runs.get(pk=source))
            settings["only"] = sorted({*settings["only"], *chosen})
        for name in (
            "name",
            "seed",
            "met",
            "completion",
            "one_kind_each",
        ):  # as in every new draft, unless it is given
            if settings.get(name) in (None, "", INITIAL.get(name)):
                settings.pop(name, None)
        options = options_given(cleaned["algorithm"], cleaned) if cleaned["algorithm"] else {}
        return settings | {"quotas": quotas_given(cleaned), "options": options}

    def _read_skills(self, cleaned: dict[str, Any]) -> list[Skill]:
        """Read the further skills, one a line. Raises FieldError."""
        skills: list[Skill] = []
        for line in filter(str.strip, cleaned["skills"].splitlines()):
            name, _, k = map(str.strip, line.rpartition(":"))
            named = self.question_sets.filter(name=name)
            found = named.filter(team=cleaned["pool"].team_id).first() or named.first()
            if found is None or not (k.isascii() and k.isdigit() and len(k) < 10):
                raise FieldError("skills", f"Write a question set and a number, not “{line}”.")
            if found in (cleaned["question_set"], *(skill.question_set for skill in skills)):
                raise FieldError("skills", f"The run has the question set “{name}” already.")
            skills.append(Skill(question_set=found, k=int(k)))
        return skills

    def _refuse_faults(
        self,
        plan: Plan,
        settings: dict[str, Any],
        cleaned: dict[str, Any],
        further: Sequence[Skill],
    ) -> None:
        """Raise FieldError for what saving would refuse, with every algorithm or with this one."""
        names = [cleaned["algorithm"]] if cleaned["algorithm"] else algorithms.list_in_order()
        workers, refusals = None, list[dict[str, str]]()
        for name in names:
            run = draft_of_plan(plan, settings, cleaned["pool"], cleaned["question_set"], name)
            workers = eligibility.count_eligible(run) if workers is None else workers
            faults = find_lasting_faults(run, workers, further)
            if not faults:
                return
            refusals.append(faults)
        # An algorithm that can do what is asked says what is wrong with it.
        able = [faults for faults in refusals if not faults.keys() & OF_ALGORITHM]
        field, reason = next(iter((able or refusals)[0].items()))
        raise FieldError(self._field_of(field), reason)

    def _field_of(self, setting: str) -> str:
        return FIELDS.get(setting, setting if setting in self.fields else "algorithm")

    def _run_chosen(self, cleaned: dict[str, Any]) -> Run:
        run = self.runs.filter(pk=cleaned["run"]).first() if cleaned["run"] else None
        if run is None:
            raise FieldError("run", "Choose a run with workers like these.")
        return run

    def _build_belief(self, cleaned: dict[str, Any]) -> Belief:
        kind = cleaned["belief"]
        field = {"range": "low", "run": "run", "file": "answers"}.get(kind, "belief")
        try:
            if kind == "file":
                return self._belief_from_files(cleaned)
            if kind == "run":
                return forecast.belief_from_run(self._run_chosen(cleaned))
            if kind == "range":
                return _parse_range(cleaned["low"], cleaned["high"])
            return RangeBelief(*map(float, kind.split("-"))) if kind else DefaultBelief()
        except Refused as refusal:
            raise FieldError(field, str(refusal)) from refusal

    def _belief_from_files(self, cleaned: dict[str, Any]) -> Belief:
        answers, gold = read_upload(cleaned["answers"]), read_upload(cleaned["gold"])
        if not answers and not gold and self.past:
            return self.past
        if not answers or not gold:
            raise Refused("Give both files: past answers and their key.")
        marks: dict[str, list[float]] = {}
        keyed = read_keyed_answers(answers, gold)
        refuse_open_choices(keyed, answers)
        for worker, _, grade in keyed.rows:
            marks.setdefault(worker, []).append(grade)
        return forecast.past_belief(
            answers.name, ((sum(grades), len(grades)) for grades in marks.values())
        )

    def describes_crowd(self) -> bool:
        return any(self[name].value() or self[name].errors for name in CROWD)

    def all_settings(self) -> list[tuple[str, list[forms.BoundField]]]:
        """List the further fields by section, as ``run_settings`` declares them."""
        more = {
            Section.DECIDING: ["algorithm", *ALGORITHM_OPTIONS],
            Section.ADMISSION: ["only_from"],
            Section.KINDS: ["skills"],
        }
        parts = []
        for section in Section:
            names = [s.name for s in GUIDE if s.section is section and s.name not in PLACED]
            fields = [self[name] for name in (*more.get(section, ()), *names)]
            parts += [(section.value or "Run", fields)] if fields else []
            if section is Section.DECIDING:
                parts.append(("Quotas", [self["quota_attribute"], self["quota_lines"]]))
        return parts

    def changes_settings(self) -> bool:
        """Tell if one of “All settings” is not as in every new draft, or is refused."""
        fields = [field for _, part in self.all_settings() for field in part]
        return any(field.errors for field in fields) or any(
            str(field.value() or "") not in ("", "False", str(field.field.initial or ""))
            and field.value() != INITIAL.get(field.name)
            for field in fields
        )

    # -- the form as an address

    def address(self) -> str:
        query = QueryDict(mutable=True)
        for name in self.fields:
            value = self.data.get(name, "")
            kept = value or (name in self.data and INITIAL.get(name))
            if name not in ("answers", "gold") and kept:
                query[name] = value
        return query.urlencode()


def _is_sent(setting: RunSetting, data: Any) -> bool:
    """Tell if a form has this setting: an emptied one differs from one that is not there."""
    return setting.name in data or not INITIAL.get(setting.name)


def draft_of_plan(
    plan: Plan, settings: dict[str, Any], pool: Pool, question_set: QuestionSet, algorithm: str
) -> Run:
    """Build the run of a plan with this algorithm, not stored. Raises FieldError."""
    values: dict[str, Any] = {
        "k": plan.k,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "budget": plan.budget,
    }
    values |= {"pool": pool, "question_set": question_set, "algorithm": algorithm}
    try:
        placeholder = {"name": f"Draft {uuid4()}", "enrolling": False}
        return drafts.build_draft(placeholder | settings | values)
    except Refused as refusal:
        raise FieldError("algorithm", str(refusal)) from refusal


def find_lasting_faults(run: Run, workers: int, further: Sequence[Skill] = ()) -> dict[str, str]:
    """Find what would refuse the run when it is saved, except for the size of its pool."""
    faults = drafts.find_faults(run, further, workers)
    return {field: reason for field, reason in faults.items() if field != "pool"}


def read_settings(cleaned: dict[str, Any], settings: Iterable[RunSetting]) -> dict[str, Any]:
    """Select the values of these settings by name, without emptied ones that need a value."""
    return {
        setting.name: cleaned[setting.name]
        for setting in settings
        if setting.column.null or cleaned[setting.name] is not None
    }


def _parse_range(low: Decimal | None, high: Decimal | None) -> RangeBelief:
    if low is None or high is None:
        raise Refused("Give both numbers, for example 60 and 90.")
    if not 0 < low < high < 100:
        raise Refused(
            "Give two numbers between 0 and 100, the lower one first, for example 60 and 90."
        )
    return RangeBelief(float(low / 100), float(high / 100))


class DraftForm(GuideForm):
    """The form of a stored draft; once valid, ``wanted`` and ``further`` are its content."""

    def __init__(self, *args: Any, draft: Run, **kwargs: Any) -> None:
        super().__init__(*args, initial=_show_draft(draft), **kwargs)
        self.draft = draft
        self.fields["name"].required = self.fields["algorithm"].required = True

    def clean(self) -> dict[str, Any]:
        cleaned = forms.Form.clean(self) or {}
        if self.errors:
            return cleaned
        try:
            self.further = self._read_skills(cleaned)
            self.wanted = self._build_draft(cleaned)
            for field, reason in drafts.find_faults(self.wanted, self.further).items():
                self.add_error(self._field_of(field), reason)
        except FieldError as error:
            self.add_error(error.field, str(error))
        except Refused as refusal:
            self.add_error(None, str(refusal))
        return cleaned

    def _build_draft(self, cleaned: dict[str, Any]) -> Run:
        """Raise FieldError, or Refused without a field."""
        given = {name: cleaned[name] for name in ("pool", "question_set", "k", "algorithm")}
        run = drafts.build_draft(self._read_settings(cleaned) | given | parse_rule(cleaned))
        run.pk, run.team_id = self.draft.pk, self.draft.team_id
        return run


def _show_draft(run: Run) -> dict[str, Any]:
    """Fill in the form with a draft's settings."""
    epsilon, delta = Decimal(str(run.epsilon)), Decimal(str(run.delta))
    asked = run.quotas or {"attribute": "", "limits": {}}
    options = {
        name: run.options[setting.option.name]
        for name, setting in ALGORITHM_OPTIONS.items()
        if setting.option.name in run.options
    }
    return options | {
        **{setting.name: getattr(run, setting.name) for setting in GUIDE},
        "pool": run.pool_id,
        "question_set": run.question_set_id,
        "k": run.k,
        "algorithm": run.algorithm,
        "spend": run.budget,
        "spend_unit": ANSWERS,
        "precise": OWN_NUMBER,
        "precise_own": _format_percent(epsilon),
        "sure": OWN_NUMBER,
        "sure_own": _format_percent(1 - delta),
        "expected": run.enrol_most,
        "quota_attribute": asked["attribute"],
        "quota_lines": quotas.text_of(asked["limits"]),
        "skills": "\n".join(f"{skill}: {skill.k}" for skill in run.skills[1:]),
    }


def _format_percent(share: Decimal) -> str:
    return f"{(100 * share).normalize():f}"


# Platforms whose projects have return addresses of their own.
OWN_ADDRESS = (Platform.CONNECT, Platform.BESAMPLE, Platform.SONA, Platform.CUSTOM)


def read_arrival(settings: dict[str, Any]) -> dict[str, Any]:
    """Add the settings that the platform needs. Raises FieldError.

    People of a platform join by a link, so the roster is open. Without an address back workers
    hand in a code. Values of other platforms, whose fields are hidden, do not count.
    """
    platform = settings["platform"]
    parameter = settings["worker_parameter"] if platform == Platform.CUSTOM else ""
    address = settings["completion_url"] if platform in OWN_ADDRESS else ""
    leads_back = not platform or address or join_platforms.JOIN_PLATFORMS[platform].back
    arrival = {
        "platform": platform,
        "worker_parameter": parameter,
        "completion_url": address,
        "completion": settings.get("completion")
        or (Completion.REDIRECT if leads_back else Completion.CODE),
    }
    for field, reason in join_platforms.validate_platform(Run(**arrival)).items():
        raise FieldError(field, reason)
    return settings | arrival | {"enrolling": settings["enrolling"] or bool(platform)}
