"""Settings of a run, each declared once: forms, API, commands, history, copies and dump follow.

The column in ``models.runs`` states type, bounds, default and help text; they are not repeated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.db.models import NOT_PROVIDED, Field

from selection.models import Run

from . import change_effects

Effect = Callable[[Run, Any], str]


class When(Enum):
    """The states of a run in which a setting may change besides its form."""

    ACTIVE = "until its end"
    STARTED = "after its start, also after its end"
    ALWAYS = "in a draft, too"


class Dumped(Enum):
    """The part of a dump that has a setting."""

    ALWAYS = "every dump"
    NAMED = "a dump that is not anonymous"
    ELSEWHERE = "with the pool and the question sets"


class Section(Enum):
    """The part of the form that has a setting."""

    WHAT = ""
    DECIDING = "Decision"
    DEALING = "Assignments"
    JOINING = "Roster"
    ARRIVING = "Platform"
    ADMISSION = "Eligibility and repeated questions"
    REPEATING = "Reproduction"
    KINDS = "Several kinds of task"


@dataclass(frozen=True)
class RunSetting:
    """A setting of a run; ``topk.options`` declares those of its algorithm.

    name        its column
    section     of the form
    label       in forms, if not the name of the column
    about       its description, if the column's help text does not say it
    initial     its value in a new draft, if not the column's default
    worked_out  its value in a new draft in words, if it differs between runs
    bounds      limits that the column does not state, in pydantic's terms: gt, ge, lt, le
    effect      the sentence about a change of a started run, with {old} and {new}, or a function
                that returns it or refuses the change; None: the start fixes it
    when        the states in which it may change
    applies     False for a run whose algorithm or roster forbids a change; None: no run does
    copied      False if a copy has its own value
    dumped      the part of the dump that has it
    """

    name: str
    section: Section
    label: str = ""
    about: str = ""
    initial: Any = NOT_PROVIDED
    worked_out: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)
    effect: Effect | str | None = None
    when: When = When.ACTIVE
    applies: Callable[[Run], bool] | None = None
    copied: bool = True
    dumped: Dumped = Dumped.ALWAYS

    @property
    def column(self) -> "Field[Any, Any]":
        column = Run._meta.get_field(self.name)
        assert isinstance(column, Field)
        return column

    @property
    def title(self) -> str:
        """Its name at the start of a line. Forms show the same."""
        name = str(self.column.verbose_name)
        return self.label or name[:1].upper() + name[1:]

    @property
    def validators(self) -> list[Any]:
        """The column's own validators, without those of the database."""
        return list(self.column.deconstruct()[3].get("validators", ()))

    @property
    def default(self) -> Any:
        """Its value in a new draft; NOT_PROVIDED if it must be given or is worked out."""
        return self.column.default if self.initial is NOT_PROVIDED else self.initial

    @property
    def description(self) -> str:
        return self.about or str(self.column.help_text)

    def describe_change(self, run: Run, value: Any) -> str:
        """Describe the effect of another value. Raises Refused or Conflict if it cannot change."""
        if isinstance(self.effect, str):
            return self.effect.format(old=getattr(run, self.name), new=value)
        assert self.effect is not None
        return self.effect(run, value)


RUN_SETTINGS = (
    RunSetting(
        "name",
        Section.WHAT,
        about="Unique in the team.",
        effect="The run “{old}” is renamed to “{new}”.",
        when=When.STARTED,
        copied=False,
    ),
    RunSetting("pool", Section.WHAT, about="Its id.", dumped=Dumped.ELSEWHERE),
    RunSetting("question_set", Section.WHAT, about="Its id.", dumped=Dumped.ELSEWHERE),
    RunSetting("k", Section.WHAT, bounds={"ge": 1}, dumped=Dumped.ELSEWHERE),
    # It can end on the little gold that people have.
    RunSetting(
        "algorithm",
        Section.DECIDING,
        about="Its name, as in docs/algorithms.md.",
        initial="credible",
    ),
    RunSetting(
        "epsilon",
        Section.DECIDING,
        label="Accuracy ε",  # a capital ε would look like an E
        bounds={"lt": 1},
        effect=change_effects.describe_epsilon,
        applies=change_effects.may_move_epsilon,
    ),
    RunSetting("delta", Section.DECIDING, label="Risk δ", bounds={"gt": 0, "lt": 1}),
    RunSetting(
        "pass_mark",
        Section.DECIDING,
        bounds={"gt": 0, "lt": 1},
    ),
    RunSetting(
        "budget",
        Section.DECIDING,
        effect=change_effects.describe_budget,
        when=When.STARTED,
        applies=change_effects.may_change_budget,
    ),
    RunSetting(
        "price",
        Section.DECIDING,
        effect=change_effects.describe_price,
        when=When.ALWAYS,
    ),
    RunSetting(
        "currency",
        Section.DECIDING,
        worked_out="the currency of your last run",
        effect=change_effects.describe_currency,
        when=When.ALWAYS,
    ),
    RunSetting("by_price", Section.DECIDING),
    RunSetting(
        "slots",
        Section.DEALING,
        effect="The maximum number of open assignments is {new:,} instead of {old:,}."
        f" {change_effects.OPEN_ASSIGNMENTS_STAY}",
    ),
    RunSetting(
        "slots_per_worker",
        Section.DEALING,
        effect="The maximum number of a worker’s open assignments is {new:,} instead of {old:,}."
        f" {change_effects.OPEN_ASSIGNMENTS_STAY}",
    ),
    RunSetting(
        "minutes",
        Section.DEALING,
        effect="The time to answer is {new:,} min per question from now on, not {old:,} min. Open "
        "questions keep their time limit. The guarantee assumes that answers before and after the "
        "change are alike.",
    ),
    # A weekend's absence is shorter, and a no-show is noticed.
    RunSetting(
        "hours_to_come",
        Section.DEALING,
        initial=48,
        effect=change_effects.describe_hours_to_come,
    ),
    RunSetting(
        "keep_no_shows",
        Section.DEALING,
        effect=change_effects.describe_keep_no_shows,
        when=When.STARTED,
    ),
    RunSetting("recorded_only", Section.DEALING),
    RunSetting("enrolling", Section.JOINING, copied=False),
    RunSetting(
        "enrol_until",
        Section.JOINING,
        effect=change_effects.describe_enrol_until,
        applies=change_effects.is_roster_open,
        copied=False,
    ),
    RunSetting(
        "enrol_most",
        Section.JOINING,
        effect=change_effects.describe_enrol_most,
        applies=change_effects.is_roster_open,
    ),
    RunSetting(
        "platform",
        Section.ARRIVING,
        effect=change_effects.describe_platform,
        when=When.STARTED,
        applies=change_effects.is_joined_by_link,
    ),
    RunSetting(
        "worker_parameter",
        Section.ARRIVING,
        effect=change_effects.describe_worker_parameter,
        when=When.STARTED,
        applies=change_effects.is_joined_by_link,
    ),
    RunSetting(
        "completion",
        Section.ARRIVING,
        effect=change_effects.describe_completion,
        when=When.STARTED,
        applies=change_effects.is_joined_by_link,
    ),
    RunSetting(
        "completion_url",
        Section.ARRIVING,
        effect=change_effects.describe_completion_url,
        when=When.STARTED,
        applies=change_effects.is_joined_by_link,
        copied=False,
    ),
    RunSetting("met", Section.ADMISSION, initial=Run.Met.SKIP, dumped=Dumped.NAMED),
    RunSetting("only", Section.ADMISSION, dumped=Dumped.NAMED),
    RunSetting("left_out", Section.ADMISSION, dumped=Dumped.NAMED),
    RunSetting(
        "seed",
        Section.REPEATING,
        about="Fixes each worker's order of questions and every random choice.",
        worked_out="drawn at random",
        copied=False,
    ),
    RunSetting("one_kind_each", Section.KINDS),
)
SETTINGS = {setting.name: setting for setting in RUN_SETTINGS}
NAMES = tuple(SETTINGS)
CHANGEABLE = {setting.name: setting for setting in RUN_SETTINGS if setting.effect is not None}
# Values of a new draft that differ from those of the columns.
INITIAL = {s.name: s.initial for s in RUN_SETTINGS if s.initial is not NOT_PROVIDED}
# The columns of a draft that replacing its settings writes.
STORED = (*NAMES, "options", "quotas")
