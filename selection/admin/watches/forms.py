"""Forms of a watch: its beginning, its settings, further workers."""

from typing import Any

from django import forms
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectMultipleWidget

from selection.accounts import scoped
from selection.admin import styled
from selection.admin.forms import LinesField
from selection.models import Pool, QuestionSet, Run, Watch
from selection.models.run_columns import MINUTES, MOST_MINUTES
from selection.models.watches import (
    DELTA,
    HIGHEST_LEVEL,
    LOWEST_LEVEL,
    ONCE_IN,
    PER_TASKS,
    SETTINGS,
    TOLERANCE,
    TRIES,
)

PERMISSION = "selection.add_watch"
MOST = 2**31 - 1
LEVELS = (round(100 * LOWEST_LEVEL), round(100 * HIGHEST_LEVEL))  # in percent
# Shares that the form takes in percent, and those of a blank field.
SHARES = {"level": None, "delta": DELTA, "tolerance": TOLERANCE}


def _percent_field(label: str, limits: tuple[float, float], **more: Any) -> forms.FloatField:
    least, most = limits
    more |= {"label": label, "required": False}
    return styled.FloatField(min_value=least, max_value=most, **more)


class SettingsForm(forms.Form):
    """The settings that may change; ``settings`` returns them as the service takes them."""

    name = styled.CharField(label="Name", max_length=200)
    question_sets: Any = forms.ModelMultipleChoiceField(
        None, label="Question sets", required=False, widget=UnfoldAdminSelectMultipleWidget
    )
    level = _percent_field(
        "Level to keep, in percent",
        LEVELS,
        help_text="Share of right answers that every worker should keep. Leave blank for a level "
        "of each worker: the run’s pass mark, or else their accuracy less ε.",
    )
    rule = styled.ChoiceField(
        label="False alarms",
        choices=Watch.Rule.choices,
        help_text="“Never” notices small falls late: from 90 to 75 percent, at a level of 80, it "
        "needs eight times as many gold answers as “rarely”.",
    )
    once_in = styled.IntegerField(
        label="Gold answers between false alarms",
        min_value=10,
        max_value=1_000_000,
        initial=ONCE_IN,
        help_text="For “rarely”: more answers mean fewer false alarms, and later true ones.",
    )
    delta = _percent_field(
        "Share or probability of a false alarm, in percent",
        (0.1, 50),
        initial=100 * DELTA,
        help_text="For “few” and “never”, and for tests.",
    )
    minutes = styled.IntegerField(
        label="Time limit per question (minutes)",
        required=False,
        min_value=1,
        max_value=MOST_MINUTES,
        initial=MINUTES,
        help_text="Starts when the worker sees the question. A late answer counts as not right.",
    )
    pace = styled.ChoiceField(label="Amount of gold", choices=Watch.Pace.choices)
    every = styled.IntegerField(
        label="Number",
        min_value=1,
        max_value=MOST,
        initial=PER_TASKS,
        help_text="Of tasks per gold question, or of gold questions a week. We use it to forecast "
        "the end of the gold.",
    )
    pause_on_alarm = styled.BooleanField(label="Pause a worker at an alarm", required=False)
    tries = styled.IntegerField(
        label="Tests of a worker after an alarm",
        required=False,
        min_value=1,
        max_value=10,
        initial=TRIES,
        help_text="All tries together pass a worker below the level less the tolerance with at "
        "most the probability above. A second try that is allowed only after a failed one at most "
        "doubles this probability.",
    )
    tolerance = _percent_field(
        "Tolerance of a test, in percent",
        (0, 20),
        initial=100 * TOLERANCE,
        help_text="A worker that far below the level hardly ever passes. More needs fewer answers.",
    )
    with_practice = styled.BooleanField(
        label="Practice before a test",
        required=False,
        help_text="A test begins with the practice questions of the question sets, at the worker’s "
        "gold link. Gold asked before the end of the practice does not count.",
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        sets = scoped(QuestionSet, request, PERMISSION)
        fields["question_sets"].queryset = sets
        if not self.initial.get("with_practice") and not sets.exclude(practice=None).exists():
            del fields["with_practice"]

    def settings(self) -> dict[str, Any]:
        values = {name: self.cleaned_data.get(name, False) for name in ("name", *SETTINGS)}
        for name, default in SHARES.items():
            values[name] = default if values[name] is None else values[name] / 100
        defaults = {"tries": values["tries"] or TRIES, "minutes": values["minutes"] or MINUTES}
        return values | defaults


class BeginForm(SettingsForm):
    run: Any = styled.ModelChoiceField(
        None,
        label="Run",
        required=False,
        empty_label="No run",
        help_text="An ended run: its selected workers are watched.",
    )
    pool: Any = styled.ModelChoiceField(
        None,
        label="Pool",
        required=False,
        empty_label="No pool",
        help_text="Without a run: the pool of the workers.",
    )
    workers = LinesField(
        label="Workers",
        required=False,
        help_text="One ID per line. Leave blank for all selected workers of the run, or for all "
        "workers of the pool.",
    )
    field_order = ("run", "pool", "workers", "name")

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, request=request, **kwargs)
        fields: dict[str, Any] = self.fields
        runs = scoped(Run, request, PERMISSION).filter(status=Run.Status.ENDED)
        fields["run"].queryset = runs.order_by("-pk")
        fields["pool"].queryset = scoped(Pool, request, PERMISSION)


class WorkersForm(forms.Form):
    workers = LinesField(label="Workers", help_text="One ID per line, of the watch’s pool.")
    level = _percent_field(
        "Level to keep, in percent", LEVELS, help_text="Leave blank for the watch’s level."
    )

    def levels(self) -> dict[str, float | None]:
        level = self.cleaned_data["level"]
        return dict.fromkeys(self.cleaned_data["workers"], None if level is None else level / 100)
