"""The guided start's form, parsed into a plan and a belief about the workers."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from unfold.widgets import UnfoldAdminFileFieldWidget

from selection import forecast
from selection.accounts import scoped
from selection.admin import styled
from selection.admin.setting_fields import build_form_fields
from selection.errors import Refused
from selection.forecast import Belief, DefaultBelief, PastBelief, Plan, RangeBelief
from selection.forecast.plan import MOST_WORKERS
from selection.imports.keyed_answers import read_keyed_answers, read_upload, refuse_open_choices
from selection.models import Pool, QuestionSet, Run
from selection.runs import money
from selection.runs.roster.worker_prices import AnswerPrice, expected_price
from selection.runs.settings import validation
from selection.runs.settings.run_settings import WIZARD, RunSetting

from .arrival import read_arrival
from .choices import BELIEFS, BY_MONEY, CONFIDENCES, GOALS, PLACES, PRECISIONS, UNITS
from .plan_input import FieldError, build_plan

PAYING = ("price", "currency")  # beside the budget
ARRIVING = ("platform", "worker_parameter", "completion_url")  # where people answer
CROWD = ("belief", "low", "high", "run", "answers", "gold", "speed")


@dataclass(frozen=True)
class WizardInput:
    """The form's content, ready for a forecast and for a run.

    speed     answers per hour; None if unknown
    need      what the guarantee must cover: a value of choices.GOALS
    settings  those of the run that need no forecast, by name
    price     of an answer; for models their mean price
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


SettingFields: Any = build_form_fields(WIZARD)


class GuideForm(SettingFields):
    """The guided start's form; once valid, ``wish`` is its content."""

    pool: Any = styled.ModelChoiceField(None, label="Pool", empty_label="Choose a pool")
    question_set: Any = styled.ModelChoiceField(
        None, label="Question set", empty_label="Choose a question set"
    )
    k = styled.IntegerField(label="How many workers to select (K)", max_value=2**31 - 1)
    goal = _radio_field("Scope of the guarantee", GOALS, "group")
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
            *((s.pk, str(s)) for s in forecast.list_past_runs(self.runs)),
        ]
        self.initial.setdefault("currency", money.last_currency(self.runs))
        fields["price"].help_text = "Include platform fees."
        fields["platform"].label, fields["platform"].choices = "Platform", PLACES
        fields["platform"].help_text = "A platform sends people to a join link."
        fields["worker_parameter"].help_text = "The name before the id in the platform’s link."
        fields["completion_url"].help_text = "Leave blank to let workers enter a code there."
        self._choose_only("pool", self.pools)
        self._choose_only("question_set", self.question_sets)
        first = "k" if {"pool", "question_set"} <= self.initial.keys() else "pool"
        self.fields[first].widget.attrs["autofocus"] = True

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
        run.pass_mark = cleaned["pass_mark"]
        for field, reason in (
            validation.validate_team(run) | validation.validate_mark(run)
        ).items():
            raise FieldError(field, reason)
        speed = cleaned["speed"]
        if speed is not None and not speed > 0:
            raise FieldError("speed", "Give more than 0 answers per hour, or no number.")
        return WizardInput(
            pool=cleaned["pool"],
            question_set=cleaned["question_set"],
            plan=build_plan(cleaned),
            belief=self._build_belief(cleaned),
            settings=read_arrival(read_settings(cleaned, WIZARD))
            | {"enrol_most": cleaned["expected"] if cleaned["platform"] else None},
            speed=None if speed is None else float(speed),
            by_money=cleaned["precise"] == BY_MONEY,
            need=cleaned["goal"] or "group",
            price=expected_price(cleaned["pool"], cleaned["question_set"], cleaned["price"]),
        )

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
            return RangeBelief.read(kind) if kind else DefaultBelief()
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

    def further_settings(self) -> list[forms.BoundField]:
        placed = (*PAYING, *ARRIVING, "pass_mark")  # the mark stands beside the choice
        return [self[setting.name] for setting in WIZARD if setting.name not in placed]

    # -- the form as an address

    def address(self) -> str:
        query = QueryDict(mutable=True)
        for name in self.fields:
            value = self.data.get(name, "")
            if name not in ("answers", "gold") and value != "":
                query[name] = value
        return query.urlencode()


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
